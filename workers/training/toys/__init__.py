"""Small environments to verify that recipes learn: copying, a tool, a chain of lemmas, three roles.

Each has rollouts of the model and demonstrations of an imperfect teacher. Nothing is scripted: rewards are computed from the
model's output, and guessing earns almost nothing.
"""
