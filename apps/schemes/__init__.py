"""Marking schemes of problems: versions that never change once used, their editor, and a place to try them out."""
