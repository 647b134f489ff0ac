"""Rehearsals of experiments on solving: predicted tables, skills fitted to recorded runs, and predictions beside outcomes.

Not here: simulated agents and their play (`apps.reasoning.rehearsal`).
"""
