"""Pages of marking: the `workspace` and its changes, setup, the captain's questions, coordination and the office."""
