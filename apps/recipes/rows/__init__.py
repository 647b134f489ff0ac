"""Export of rows: reads trajectories with the places of their tokens, writes immutable files of rows (docs/datasets.md).

The application starts it as a separate program. It uses numpy and pyarrow, never torch or Django.
"""
