"""Template tags of help, available on every page without loading."""
