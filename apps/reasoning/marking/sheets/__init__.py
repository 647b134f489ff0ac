"""Mark sheets: what a marker writes about one script, its changes, sealing, and what the student sees."""
