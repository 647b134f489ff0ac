"""The mathematics of learning: rewards, lemma values, advantages, losses with gradients, as pure functions of numpy arrays.

Nothing here imports a trainer, torch, Django or Celery, so the same functions serve the trainer's own environment, the exporter
and the tests. Every docstring names the paper and section it comes from; where a paper is open or in error, it says what was
chosen and why. `docs/learning.md` lists which file holds what.
"""
