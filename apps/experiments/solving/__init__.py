"""Experiments on solving: manifest, matrix of cells, their runs and scores.

Not here: gradings of scripts (the modules above) and statistics (`apps.reasoning.statistics`).
"""
