"""The prompt's request for a last line `Answer: …`, for problems that have an answer."""

from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.prompts.loader import load

#: A separate folder: graders use `shared/` too, but never ask for an answer line.
METHOD = "answers"


def answer_line(problem: ProblemText) -> str:
    """The request for an answer line; "" for a problem without an answer."""
    return load("answers/forms/answer_line").system if problem.answer.strip() else ""
