"""Read-only links with an end date, by which people without an account read a run: statement, graph, proof and lemmas.

Not here: who may see a run with an account (`apps.runs.access`), the rows and the drawing (`apps.lemmas`).
"""
