"""From the start form to the frozen specification of a run."""
