"""Rows on their way into a step: tables, texts, sources, tensors."""
