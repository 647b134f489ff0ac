"""The simulator of rollout schedules."""
