"""Benchmarks of the formula check."""
