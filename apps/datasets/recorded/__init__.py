"""Training material of recorded runs: calls with tokens, rounds, trajectories, and the feed of runs under way."""
