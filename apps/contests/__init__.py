"""Contests: problems, coaches, students, windows, states; papers with random numbers, and apart from them who wrote which."""
