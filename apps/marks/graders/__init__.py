"""Graders: whatever reads a script and says what it sees. A port, and two that need no model.

| grader | what it says | points |
|---|---|---|
| `computational` | formulas of the steps that are false at a point, with that point | none |
| `scripted` | what somebody wrote for the sample contest and for tests; labelled as written by people | as written |
"""

from apps.marks.graders.port import Grader, GraderFailed, GraderStep, Question

__all__ = ["Grader", "GraderFailed", "GraderStep", "Question"]
