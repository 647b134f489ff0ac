"""The final answer of a proof or solution compared with the problem's answer, for pages, the terminal and exports."""

from dataclasses import dataclass
from typing import Any

from apps.lemmas.models import ProofVersion
from apps.reasoning.answers.comparison import answer_compared
from apps.reasoning.answers.final import final_answer
from apps.reasoning.answers.outcomes import Comparison
from apps.runs.models import Run

_WORDS = {"equal": "the problem’s answer", "different": "another answer", "undecided": "answer undecided"}
_BADGES = {"equal": "good", "different": "bad", "undecided": "warn"}
MOST_SHOWN = 400


@dataclass(frozen=True)
class ShownAnswer:
    """A compared answer; `given` is empty if the text ends without an answer."""

    given: str
    expected: str
    comparison: Comparison

    @property
    def word(self) -> str:
        return _WORDS[self.comparison.outcome]

    @property
    def badge(self) -> str:
        return _BADGES[self.comparison.outcome]


def shown_answer(run: Run, text: str) -> ShownAnswer | None:
    """The compared answer; None for a problem without an answer."""
    expected = run.problem_version.answer.strip()
    if not expected:
        return None
    found = final_answer(text)
    given = found.text if found.is_stated else ""
    return ShownAnswer(given[:MOST_SHOWN], expected[:MOST_SHOWN], answer_compared(text, expected))


def final_answer_of(run: Run) -> dict[str, Any] | None:
    """Outcome and reason for the selected proof; None without a selected proof or without an answer."""
    if not run.problem_version.answer.strip():
        return None
    proof = ProofVersion.objects.filter(run=run, selected=True).order_by("-pk").first()
    found = shown_answer(run, proof.text) if proof else None
    return {"given": found.given, "expected": found.expected, **found.comparison.model_dump()} if found else None
