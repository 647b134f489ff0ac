"""The list of runs as a table: filters, columns, a page of rows, and what may be done with selected runs.

Not here: tags and saved views (`apps.desk`), the columns that a run stores (`apps.runs.models`).
"""
