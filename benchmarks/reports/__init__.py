"""The documents with the figures."""
