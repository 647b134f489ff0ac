"""Views of marking schemes: `reading` and `writing`."""
