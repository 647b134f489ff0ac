"""Notes on runs and their parts."""
