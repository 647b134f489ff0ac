"""Preparation of a problem: pieces from its references, schemes written by models, quality, difficulty, benchmark texts.

Not here: the use of prepared pieces in a grading (`apps.graders`).

Doors: `contamination`, `quality`, `runs`.
"""
