"""Submissions: drafts, immutable versions with their steps, bulk import, and scans.

Not here: contests and identities (`apps.contests`), marks (`apps.marks`).

Doors: `importing.shapes`, `importing.texts`, `intake`, `row_counts`.
"""
