"""Pages of marking: `workspace` and its changes, setting up, the captain's questions."""
