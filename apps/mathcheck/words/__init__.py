"""Sentences around formulas: conditions, declarations, quantifiers, and words that forbid a refutation."""
