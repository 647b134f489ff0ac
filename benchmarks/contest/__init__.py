"""Contests: a simulated contest run, fairness of calls, and marking at the size of a contest."""
