"""Checks of a machine with a GPU, in ten minutes and without installing anything: `make gpu-check`."""
