"""Learning: training jobs, trained models and the simulator of rollout schedules. The mathematics is in `workers/learning/`."""
