"""Rehearsals: simulated agents with stated skills play the real scaffolds, so that an experiment is predicted without a model.

`skills` says what an agent can, `agent` answers calls, `matrix` says what is played, and `playing` plays it. `gradings`
plays one grading, and `scripts` are those of people, whose points a simulated grader knows.
Not here: fitting skills to recorded runs and pages (`apps.experiments.solving.rehearsal`).
"""
