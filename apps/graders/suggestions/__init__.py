"""Workflows as graders of a contest: they run when a mark is sealed, and their grading becomes a suggestion."""
