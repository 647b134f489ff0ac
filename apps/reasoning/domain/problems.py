"""The problem as a scaffold sees it."""

from apps.reasoning.domain.values import Value


class ProblemText(Value):
    """A frozen statement. `answer` never enters a prompt; prompts only say whether one is expected."""

    id: str
    version: int
    title: str
    statement: str
    answer: str = ""
