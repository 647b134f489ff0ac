"""Marks, the suggestions and coordination around them, and the grades that result.

Not here: schemes (`apps.schemes`), the rules of a mark sheet (`apps.reasoning.marking`), release (`apps.results`).
"""
