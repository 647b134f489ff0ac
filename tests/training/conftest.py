"""Tests of the trainer run where it is installed: `make test-learning`. Elsewhere nothing is collected here."""

import importlib.util

HERE = importlib.util.find_spec("trl") is not None
collect_ignore_glob = [] if HERE else ["test_*.py"]

if HERE:
    import torch

    torch.set_num_threads(1)
