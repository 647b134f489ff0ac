"""Notes of people on a run, on its lemmas, on steps of its proofs and on its calls, and mentions in them.

Not here: tags (`apps.desk`), the pages of what a note is about (`apps.lemmas`, `apps.explorations`). Notes never enter prompts.
"""
