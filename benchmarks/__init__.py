"""Speed and size, as figures or ratios within one run. `make bench` runs all; `python -m benchmarks journal` one."""
