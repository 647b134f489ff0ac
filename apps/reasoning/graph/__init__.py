"""The lemma graph: pure queries on it, and its export formats."""
