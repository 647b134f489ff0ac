"""Programs about a problem instead of a script: its quality, and its difficulty for a model."""
