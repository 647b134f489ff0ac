"""How far graders and people agree: sources of pairs of points, comparisons, buckets of reasons, grader cards.

Not here: the statistics (`apps.reasoning.agreement`).
"""
