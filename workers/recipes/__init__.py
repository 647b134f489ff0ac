"""The algorithms of the papers, one readable file each: trajectories in, rows with advantages out, and the paper's settings.

Numpy only, like `workers/learning/`, whose functions do the mathematics. `registry.RECIPES` names them all.
"""
