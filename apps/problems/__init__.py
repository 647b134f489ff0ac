"""Problems, their reference solutions and versions, import and export, the sample library.

Not here: contests (`apps.contests`), preparation for graders (`apps.preparation`).

Doors: `drafts`, `forms`, `geometry_drafts`, `holding`, `importing.plans`, `importing.shapes`, `importing.values`, `samples`,
`theorems`.
"""
