"""The trainer: rows in, gradients and checkpoints out. It runs alone in its own environment (docs/learning_jobs.md).

Only this package imports torch's trainers. Mathematics come from `recipes/mathematics/`, settings from `apps/recipes/`. TRL's
GRPOTrainer does the optimiser steps; `row_trainer` replaces one of its private methods.
"""
