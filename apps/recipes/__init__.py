"""The papers' learning algorithms, one module each: trajectories in, rows with advantages out. `registry.RECIPES` lists them.

Numpy only, without Django or torch. Not here: the trainer (`workers.training`), jobs and pages (`apps.learning`).
"""
