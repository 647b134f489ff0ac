"""Files of a run for other programs: write-up as PDF and LaTeX, blueprint for Lean, spans for OpenTelemetry.

Not here: the run as JSON lines (`apps.explorations.exports`), the lemma graph (`apps.lemmas.exports`).
"""
