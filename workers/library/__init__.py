"""The index of documentation that models may search: collected from the installed libraries, stored in one SQLite file.

collect (runs in the sandbox's own environment) · index (build and search) · `python -m workers.library` builds it at set-up.
"""
