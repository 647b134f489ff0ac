"""Lemma, edge and verdict rows: projections of a run's events, rebuilt at will by `projection.py`."""
