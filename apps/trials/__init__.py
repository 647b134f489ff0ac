"""Trials of a model: every role once on easy problems, and how many of its answers are read.

Not here: the program of a trial (`apps.reasoning.trying`).

Doors: `rates`.
"""
