"""The team of a contest: assignments, progress, all scripts, blank scripts."""
