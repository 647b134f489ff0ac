"""The trainer: rows in, gradients and checkpoints out. Runs by itself in an environment of its own (docs/learning_jobs.md).

Only this package imports torch's trainers. The mathematics is that of `workers/learning/`, the settings are those of
`workers/recipes/`; TRL's GRPOTrainer does the optimiser steps, through one private method that `row_trainer` replaces.
"""
