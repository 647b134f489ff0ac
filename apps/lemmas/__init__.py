"""Lemmas of a run as rows: projected from its events, drawn as a graph, listed, searched, exported.

Not here: the graph's mathematics (`apps.reasoning.graph`).

Doors: `established`, `exports`, `final_answers`, `formula_checks`, `graph_data`, `later.checking`, `network`, `outline`,
`pairs.grouping`, `pairs.models`, `pairs.services`, `readings.work`, `rows`, `search.index`, `search.origin`,
`search.retrieval`, `search.views`, `views`, `words`.
"""
