"""The agreement pages."""
