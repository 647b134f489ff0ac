"""Proofs of claims by exact methods, each with a certificate."""
