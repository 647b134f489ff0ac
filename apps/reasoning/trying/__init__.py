"""Trying a model: every role of every scaffold with authored problems, to measure what of its answers can be read."""
