"""Benchmarks of speed and size. `make bench` runs all; `python -m benchmarks journal` runs one."""
