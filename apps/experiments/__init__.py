"""Experiments on grading (scripts × graders × models) and on solving (problems × methods × teams): one durable run a cell.

Not here: how far graders agree with people (`apps.agreement`).

Doors: `cell_graders`, `cells`, `ledger`, `refusals`, `solving.grading`, `solving.manifest`, `solving.planning`,
`solving.services`, `solving.tables`.
"""
