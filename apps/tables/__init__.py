"""Tables that coaches have, imported into a contest: people, problems, references, guidelines, texts and points by people.

A table is read (`apps.files.grids`), its columns get meanings (`columns`), its rows become people, problems and entries
(`reading`), and a plan compares them with what is stored (`plans`). `people` finds accounts and `authors` those of the contest.
Nothing is stored (`services`, `storing`) before the plan was shown.

Not here: files in a fixed layout (`apps.submissions.importing`, `apps.problems.importing`), sealed marks (`apps.marks`).

Doors: none.
"""
