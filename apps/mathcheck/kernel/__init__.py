"""Checks claims with the kernel of a proof assistant: the claim becomes a theorem, and Coq or Lean checks a proof of it."""
