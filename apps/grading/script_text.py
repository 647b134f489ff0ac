"""A script in paragraphs with the issues that came with it, each at the paragraph in which it begins."""

from dataclasses import dataclass
from typing import Any

from apps.grading.models import GradedScript
from apps.reasoning.texts.segmentation import segment


@dataclass(frozen=True)
class Piece:
    """A step of the text and the issues that begin in it."""

    number: int
    text: str
    issues: tuple[dict[str, Any], ...]


def pieces_of(script: GradedScript) -> list[Piece]:
    """The text in steps. An issue between two steps stands at the step after it; one after the last stands there."""
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
