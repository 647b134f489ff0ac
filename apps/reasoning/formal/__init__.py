"""Formal texts that a model proposes: readings of formulas and statements of geometry. They count only after strict tests."""
