"""Pages that explain the table: two rows by problem, ablations of the baseline, and how cells ended.

Not here: the table itself (`apps.experiments.solving.tables`) and statistics (`apps.reasoning.statistics`).
"""
