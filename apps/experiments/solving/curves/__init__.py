"""Scores at smaller budgets: earlier answers of recorded runs, scored once each, and the page with curves and the Pareto front.

Not here: the rules by which a scaffold hands in earlier (`apps/reasoning/programs/anytime.py`).
"""
