"""Grading experiments: scripts × graders × models, one durable run a cell, conducted by the orchestrator.

Not here: how far graders agree with people (`apps.agreement`).

Doors: `cell_graders`, `ledger`.
"""
