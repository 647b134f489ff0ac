"""Experiments on grading (scripts × graders × models) and on solving (problems × methods × teams): one durable run a cell.

Not here: how far graders agree with people (`apps.agreement`).

Doors: `cell_graders`, `ledger`, `refusals`, `solving.manifest`, `solving.services`, `solving.tables`.
"""
