"""Sums and products up to a name: induction, telescopes and closed forms."""
