"""What prompts add for a problem that has an answer: the solution ends with a line `Answer: …`."""

from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.prompts.loader import load

#: A folder of its own: graders share `shared/` with scaffolds, but never ask for an answer line.
METHOD = "answers"


def answer_line(problem: ProblemText) -> str:
    """The request for an answer line; empty for a problem without an answer, whose prompts stay as they are."""
    return load("answers/forms/answer_line").system if problem.answer.strip() else ""
