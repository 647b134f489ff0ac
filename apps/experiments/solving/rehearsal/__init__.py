"""Rehearsals of experiments on solving: predicted tables, fitted skills, and the page that compares prediction and outcome.

Not here: simulated agents and their play (`apps.reasoning.rehearsal`).
"""
