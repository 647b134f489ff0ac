"""Runs that compare solutions: by round, with opinions, as a conversation, and as a lineage."""
