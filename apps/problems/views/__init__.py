"""Views of the library: the list, a problem, writing and editing, import and export."""
