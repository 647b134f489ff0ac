"""Practice and help: attempts of a student alone, questions to coaches, remarks at steps, hints taken, solutions compared.

Not here: texts and their versions (`apps.submissions`), marks and released results (`apps.marks`, `apps.results`).

Doors: `coaching.queue`, `helping.requests`, `path`.
"""
