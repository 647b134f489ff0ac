"""The application: pure libraries (reasoning, recipes, mathcheck) below, Django apps above, one folder each.

Not here: processes that host engines, run tools or train (`workers`).
"""
