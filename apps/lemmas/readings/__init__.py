"""Formal readings of formulas by a model, which count only after a round trip (docs/mathcheck_readings.md)."""
