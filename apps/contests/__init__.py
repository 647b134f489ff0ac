"""Contests: problems, coaches, students, time windows, states, papers with random numbers, and identities kept apart."""
