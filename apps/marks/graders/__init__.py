"""Graders: whatever reads a script and says what it sees. A port, two that need no model, and families of others (`families`).

| grader | what it says | points |
|---|---|---|
| `computational` | formulas of the steps that are false at a point, with that point | none |
| `scripted` | what somebody wrote for the sample contest and for tests; labelled as written by people | as written |
| `workflow:<name>@<model>` | what a model grader says; registered by `apps.grading` | as it proposes |
"""

from apps.marks.graders.port import Grader, GraderFailed, GraderStep, GraderStopped, Question

__all__ = ["Grader", "GraderFailed", "GraderStep", "GraderStopped", "Question"]
