"""What students receive: released results, appeals, feedback and hints.

Not here: marks and grades before their release (`apps.marks`).

Doors: `proposing`, `sample`, `words`.
"""
