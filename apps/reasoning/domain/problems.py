"""The problem as a scaffold sees it."""

from apps.reasoning.domain.values import Value


class ProblemText(Value):
    """A frozen statement. `answer` is kept for display and never enters a prompt."""

    id: str
    version: int
    title: str
    statement: str
    answer: str = ""
