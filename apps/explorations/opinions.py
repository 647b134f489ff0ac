"""Opinions on a solution: reports with scores, and judgements."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apps.explorations.solutions import Solution


@dataclass
class Opinion:
    """One report or judgement on a solution: `verdict` in words, `state` good, bad or empty if unreadable."""

    call: str
    verdict: str
    state: str
    text: str = ""
    issues: list[dict[str, Any]] = field(default_factory=list)
    dropped: str = ""

    @property
    def found(self) -> str:
        """The verdict without the name of its evaluator, which the page shows separately."""
        return self.verdict.partition(": ")[2] if self.verdict.startswith("Evaluator ") else self.verdict


def scored(solution: "Solution", body: dict[str, Any]) -> None:
    """Add a report, with its score if that could be read."""
    solution.scale = body["scale"]
    if body.get("score") is None:
        solution.opinions.append(Opinion(body["call"], f"not read: {body['unscored']}", ""))
        return
    solution.scores[body["index"]] = body["score"]
    share = body["score"] / body["scale"]
    verdict = f"{body['score']:g} of {body['scale']:g}"
    state = "good" if share == 1 else "bad" if share == 0 else ""
    solution.opinions.append(Opinion(body["call"], verdict, state, body["report"]))


def dropped(solution: "Solution", body: dict[str, Any]) -> None:
    """Mark a report that no longer counts."""
    solution.scores.pop(body["index"], None)
    for opinion in solution.opinions:
        if opinion.call.endswith(f"/{body['candidate']}/{body['index']}"):
            opinion.dropped = body["reason"] or "a check found it unfounded"


def judged(solution: "Solution", body: dict[str, Any]) -> None:
    """Add a pass or a fail with the resulting streak."""
    solution.passes, solution.failures = body["passes"], body["failures"]
    if body["passed"] is None:
        solution.opinions.append(Opinion(body["call"], f"not read: {body['unscored']}", ""))
        return
    word, state, streak = ("pass", "good", body["passes"]) if body["passed"] else ("fail", "bad", body["failures"])
    verdict = f"{word}, {streak} in a row" if streak else word
    verdict += " (“pass” next to a critical error or gap)" if body.get("overruled") else ""
    solution.opinions.append(Opinion(body["call"], verdict, state, body["summary"], list(body["issues"])))
