"""The export of rows: trajectories with the places of their tokens in, immutable files of rows out (docs/datasets.md).

Started by the application as a program of its own; numpy and pyarrow, never torch, nothing of Django.
"""
