"""Model graders on scripts: plans of gradings, batches, suggestions to markers, a page for one script.

Not here: workflows (`apps.reasoning.graders`), many scripts × graders (`apps.experiments`), preparation (`apps.preparation`).

Doors: `batches.jobs`, `held_back`, `option_forms`, `pieces`, `planning.answer_lengths`, `planning.naming`, `planning.plans`,
`planning.prompt_lengths`, `planning.settings`, `planning.shown`, `planning.spending`, `player_forms`, `references`,
`results`, `starting`.
"""
