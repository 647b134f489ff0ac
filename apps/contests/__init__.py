"""Contests: problems, coaches, students, time windows, states, papers with random numbers, and identities kept apart.

Not here: texts handed in (`apps.submissions`), marks (`apps.marks`), what students receive (`apps.results`).

Doors: `entering`, `holding`, `opening`, `practice`, `record_keepers`, `windows`.
"""
