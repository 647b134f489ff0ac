"""Several marks of one script: their comparison, the page on which markers settle a dispute, and earlier decisions."""
