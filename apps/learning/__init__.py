"""Learning: training jobs, trained models and the simulator of rollout schedules.

Not here: the mathematics and the recipes (`apps.recipes`), the trainer (`workers.training`).

Doors: `jobs.folders`, `queues`.
"""
