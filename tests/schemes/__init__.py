"""Marking schemes as people meet them: versions, pages, refusals."""
