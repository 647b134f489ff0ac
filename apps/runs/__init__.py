"""Durable runs: their journal, calls to workers, owners and live tail. Any process may die at any moment.

Not here: what a run means on a page (`apps.explorations`, `apps.lemmas`, `apps.graders`).

Doors: `calls.dispatch`, `calls.outside`, `calls.sending`, `journal.batch`, `journal.captured`, `journal.records`,
`journal.rows`, `journal.run_journal`, `journal.texts`, `models_status`, `owners.execution`, `owners.leases`,
`owners.searches`.
"""
