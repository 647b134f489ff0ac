"""Learning: today the simulator of rollout schedules. The mathematics stands in `workers/learning/`."""
