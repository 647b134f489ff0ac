"""Marks, the suggestions and coordination around them, and the grades that result."""
