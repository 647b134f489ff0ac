"""What people arrange for themselves among runs: tags on runs and their parts, and saved views of the list of runs.

Not here: the runs (`apps.runs`), the page of the list (`apps.explorations.run_table`).
"""
