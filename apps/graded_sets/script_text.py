"""An imported script in steps, with its issues at the steps in which they begin."""

from dataclasses import dataclass
from typing import Any

from apps.graded_sets.models import GradedScript
from apps.reasoning.texts.segmentation import segment


@dataclass(frozen=True)
class Piece:
    """A step of the text with the issues that begin in it."""

    number: int
    text: str
    issues: tuple[dict[str, Any], ...]


def pieces_of(script: GradedScript) -> list[Piece]:
    """The text in steps. An issue between two steps belongs to the later one; one after the last step to the last."""
    steps = list(segment(script.text))
    placed: dict[int, list[dict[str, Any]]] = {}
    for issue in script.issues:
        start = issue.get("start")
        if isinstance(start, int) and steps:
            number = next((number for number, step in enumerate(steps) if start < step.end), len(steps) - 1)
            placed.setdefault(number, []).append(issue)
    return [
        Piece(number + 1, script.text[step.start : step.end], tuple(placed.get(number, ())))
        for number, step in enumerate(steps)
    ]
