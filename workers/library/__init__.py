"""The index of documentation that models may search: collected from the installed libraries, kept in one SQLite file.

collect (runs in the sandbox's own environment) · index (make and search) · `python -m workers.library` makes it in set-up.
"""
