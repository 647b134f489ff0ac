"""Lemmas of all runs: their index of terms, the search by words and formulas, and the sisters of a lemma in other runs.

Not here: the normal form and the terms of a statement (`apps.reasoning.graph`).
"""
