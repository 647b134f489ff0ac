"""Marking schemes: their parts, written forms, checks, versions, and the evaluation of ticks."""
