"""Speed and size, each as a figure or a ratio within one run. `make bench` runs all; `python -m benchmarks journal` runs one."""
