"""Forks from an event or a lemma: the points where one can begin, what it takes over, and its change in words.

Not here: how a run follows its parent (`apps.reasoning.scaffolds.running.context`), the start form of whole forks (`starting`).
"""
