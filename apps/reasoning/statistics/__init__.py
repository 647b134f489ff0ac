"""Statistics of experiments: tables of methods, problems and repeats. docs/statistics.md explains each to people.

`scores` has the table of one method. `metrics` and `selections` turn it into a measure by problem, `means` gives a measure its
interval, and `differences` compares two measures. `intervals` has what agreement needs too.
"""
