"""Model remarks on authored attempts: first broken sentences found, false alarms, silence, with a real model."""
