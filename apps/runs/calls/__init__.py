"""Calls on their way to the inference workers and back, in the process that drives a run."""
