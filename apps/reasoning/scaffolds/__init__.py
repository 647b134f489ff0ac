"""Scaffolds: programs of model calls that solve a problem, listed in `registry`. `running` has what they all use."""
