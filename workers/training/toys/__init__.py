"""Small honest environments on which the recipes must be seen to learn: copying, a tool, a chain of lemmas, three roles.

Each has rollouts of the model itself and demonstrations of a teacher that is right only sometimes. Nothing is scripted: rewards
are computed from what the model wrote, and guessing pays almost nothing.
"""
