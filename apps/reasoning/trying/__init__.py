"""Trials of a model: every role of every scaffold on authored problems, to measure how many of its answers are readable."""
