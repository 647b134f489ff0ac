"""The mathematics of learning: rewards, lemma values, advantages, losses with gradients, as pure functions of numpy arrays.

Nothing here imports a trainer, torch, Django or Celery, so the trainer's environment, the exporter and the tests share these
functions. Docstrings name the paper and section. Where a paper is unclear or wrong, they state our choice and its reason.
`docs/learning.md` lists the modules.
"""
