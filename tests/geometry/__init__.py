"""Statements of plane geometry: reading, configurations, check, figures, the page, and the engine."""
