"""Lemmas of a run as rows: projected from its events, drawn as a graph, listed, exported.

Not here: the graph's mathematics (`apps.reasoning.graph`).

Doors: `established`, `exports`, `final_answers`, `formula_checks`, `network`, `outline`, `rows`, `views`.
"""
