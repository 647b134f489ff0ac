"""Published scripts with points by people: their import, their pages, and readers of files with points.

Not here: graders (`apps.graders`) and comparisons with the points (`apps.agreement`).

Doors: `shapes`.
"""
