"""Formulas of lemmas and proofs that a person lets a proof assistant check (docs/mathcheck_kernel.md)."""
