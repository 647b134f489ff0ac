"""Pages of solving runs: start form, live page, lineage, replay, calls, import and export.

Not here: the run itself (`apps.runs`), lemma rows and their graph (`apps.lemmas`).

Doors: `starting.given`, `starting.plans`, `views.shared`, `worked_example`.
"""
