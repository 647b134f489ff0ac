"""The papers' algorithms, one module each: trajectories in, rows with advantages out, plus the paper's settings.

Numpy only, like `workers/learning/`, which has the mathematics. `registry.RECIPES` lists them all.
"""
