"""Marking schemes of problems: immutable versions, editor and try-out."""
