"""Durable runs: their journal, calls to workers, owners and live tail. Any process may die at any moment.

Not here: what a run means on a page (`apps.explorations`, `apps.lemmas`, `apps.graders`).
"""
