"""Engines alone and through the whole stack."""
