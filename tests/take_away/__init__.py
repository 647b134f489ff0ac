"""Files of a run for other programs."""
