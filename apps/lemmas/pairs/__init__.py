"""Which lemmas of different runs say the same: computed from their statements, and decided by people."""
