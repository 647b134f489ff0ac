"""The problem as a scaffold sees it."""

from apps.reasoning.domain.values import Value


class ProblemText(Value):
    """A frozen statement. `answer` never enters a prompt; prompts say only whether there is one."""

    id: str
    version: int
    title: str
    statement: str
    answer: str = ""
