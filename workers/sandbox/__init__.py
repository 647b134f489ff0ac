"""Runs Python that a model wrote where it can do no harm (docs/sandbox.md). Nothing here imports Django."""
