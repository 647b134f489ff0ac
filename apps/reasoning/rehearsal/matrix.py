"""What is rehearsed, and what came of it."""

from typing import Any

from pydantic import Field

from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds.spec import Budget, TokenPrice


class RehearsedProblem(Value):
    """A problem by the name under which skills know it. `has_answer`: it asks for a final answer."""

    name: str
    statement: str
    has_answer: bool = True


class Line(Value):
    """A row of the table: a scaffold with a preset and parameters, models by role (the one under "" plays the others), budget.

    `max_new_tokens`: limit of a call of any role; without it, that of the scaffold's role.
    """

    name: str
    scaffold: str
    preset: str = ""
    params: dict[str, Any] = {}
    models: dict[str, str] = {}
    max_new_tokens: int | None = None
    budget: Budget = Budget()
    prices: dict[str, TokenPrice] = {}


class Matrix(Value):
    """Lines × problems × repeats. Every cell has draws of its own, which follow from `seed` and its place."""

    lines: tuple[Line, ...] = Field(min_length=1)
    problems: tuple[RehearsedProblem, ...] = Field(min_length=1)
    repeats: int = Field(default=1, ge=1)
    seed: int = 0


class PlayedCell(Value):
    """A cell that was played. `line`, `problem`, `repeat`: places from 0.

    `right`: whether what it handed in is right; None if it handed in nothing, or if it could not run, as `trouble` says.
    `accepted`: its own verdict. `unread`: answers that could not be read.
    """

    line: int
    problem: int
    repeat: int
    right: bool | None = None
    accepted: bool | None = None
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    unread: int = 0
    trouble: str = ""
