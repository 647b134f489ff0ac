"""People, their roles and groups, and who may do what in general.

Not here: rights in one contest (`apps.contests`).

Doors: `enrolling`, `origin`, `throttle`.
"""
