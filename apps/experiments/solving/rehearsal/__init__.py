"""Rehearsals of experiments on solving: predicted tables, skills fitted to recorded runs, and comparisons of prediction and outcome.

Not here: simulated agents and their play (`apps.reasoning.rehearsal`).
"""
