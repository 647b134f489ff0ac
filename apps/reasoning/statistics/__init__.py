"""Statistics that agreement and experiments share: `intervals`."""
