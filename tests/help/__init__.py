"""Help: the documents as pages, their search, and the "?" of every page."""
