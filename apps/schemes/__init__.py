"""Marking schemes of problems: immutable versions, editor and try-out.

Not here: what a scheme is and computes (`apps.reasoning.marking.schemes`).

Doors: `sheets`.
"""
