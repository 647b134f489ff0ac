"""Graders read a script and report findings. A port, two graders without a model, and families of others (`families`).

| grader | reports | points |
|---|---|---|
| `computational` | formulas of the steps that are false at a point, with that point | none |
| `scripted` | authored answers for the sample contest and for tests, labelled as written by people | as written |
| `workflow:<name>@<model>` | findings of a model grader; registered by `apps.config.wiring` | as proposed |
"""

from apps.marks.graders.port import Grader, GraderFailed, GraderStep, GraderStopped, Question

__all__ = ["Grader", "GraderFailed", "GraderStep", "GraderStopped", "Question"]
