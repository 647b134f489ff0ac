"""Runs Python that a model wrote, isolated from the machine (docs/sandbox.md). Nothing here imports Django."""
