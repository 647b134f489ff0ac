"""Lemmas of a run as rows: projected from its events, drawn as a graph, listed, searched, exported.

Not here: the graph's mathematics (`apps.reasoning.graph`).

Doors: `exports`, `final_answers`, `formula_checks`, `network`, `outline`, `rows`, `search.origin`, `search.views`, `views`.
"""
