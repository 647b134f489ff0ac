"""Marks, the suggestions and coordination around them, and the grades that result.

Not here: schemes (`apps.schemes`), the rules of a mark sheet (`apps.reasoning.marking`), release (`apps.results`).

Doors: `audit`, `blindness`, `coordination.comparing`, `graders`, `graders.computational`, `graders.families`,
`graders.warm_verifier`, `grades`, `office.awards`, `office.cutoffs`, `office.names`, `office.office`, `office.statistics`,
`page_marks`, `sample`, `sealing.calibration`, `sealing.sealing`, `sealing.seeing`, `setups`, `sheets`,
`suggestions.suggesting`, `views.blind`, `waiting`, `workspace.claims`, `workspace.drafts`, `workspace.passes`.
"""
