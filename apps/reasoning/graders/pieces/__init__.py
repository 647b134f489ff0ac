"""Pieces prepared once a problem, from its references: clusters, analyses, rubrics, schemes."""
