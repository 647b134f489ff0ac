"""Model graders on scripts: plans of gradings, batches, suggestions to markers, a page for one script.

Not here: workflows (`apps.reasoning.graders`), many scripts × graders (`apps.experiments`), preparation (`apps.preparation`).
"""
