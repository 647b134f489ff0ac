"""Trained models: registration, comparison with their parents, promotion, and the registry's file."""
