"""Versioned sets of problems, such as benchmarks: their import, splits, and signs that a model may know them.

Not here: sets of graded scripts (`apps.graded_sets`) and experiments on a set (`apps.experiments`).

Doors: `contamination`.
"""
