"""The learning pages, for researchers."""
