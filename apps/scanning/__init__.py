"""Scans of written papers: answer sheets with page codes, uploaded files, the pages read from them, and where they belong.

Not here: the pages of a handed-in text (`apps.submissions`), marks (`apps.marks`).

Doors: none.
"""
