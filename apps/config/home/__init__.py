"""Content of the home page, by role."""
