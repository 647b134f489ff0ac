"""Marks of markers, what suggests and settles them, and the grades that come of them."""
