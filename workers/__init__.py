"""Processes next to the application: inference workers with their engines, the sandbox, the trainer.

Not here: what they compute (`apps.reasoning`, `apps.recipes`, `apps.mathcheck`).
"""
