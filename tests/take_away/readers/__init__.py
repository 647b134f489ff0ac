"""Scripts that run in the environment of other programs (.venv-readers)."""
