"""Tables that coaches have, imported into a contest: people, problems, references, guidelines, texts and points by people.

A table is read (`apps.files.grids`), its columns get meanings (`columns`), its rows become people, problems and entries
(`reading`), and a plan compares them with what is stored (`plans`). Nothing is stored before the plan was shown.

Not here: files in a fixed layout (`apps.submissions.importing`, `apps.problems.importing`), sealed marks (`apps.marks`).

Doors: none.
"""
