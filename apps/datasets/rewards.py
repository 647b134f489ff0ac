"""Sources of the rewards of solutions: those of a dataset, and reward workers that answer later."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from apps.runs.models import Run

Judge = Literal["verifiers", "answer", "grader"]
#: Sources that a dataset may have: they are known when a run has ended.
JUDGES: tuple[tuple[Judge, str], ...] = (
    ("verifiers", "share of passes or points from the run's own verifiers"),
    ("answer", "agreement of the final answer with the problem's answer"),
)
#: Sources that a job's own runs may have.
JUDGES_OF_JOBS: tuple[tuple[Judge, str], ...] = (*JUDGES, ("grader", "points by a grader, in a run of its own"))


def judge_choices(judges: Sequence[tuple[Judge, str]]) -> list[tuple[Judge, str]]:
    """Choices of a form: the words of manifests as labels."""
    return [(name, (words[0].upper() + words[1:]).replace("'", "’")) for name, words in judges]


@dataclass(frozen=True)
class Given:
    """What a reward worker gave for a solution: a share of full points, 0 to 1, or why there is none."""

    share: float | None
    why: str = ""
    detail: str = ""


class RewardSource(Protocol):
    """Rewards that arrive some time after a run has ended."""

    def given(self, run: "Run") -> Mapping[str, Given] | None:
        """By solution of a finished run; None while some are awaited. The first call asks for them."""

    def awaited(self, runs: Collection[int]) -> set[int]:
        """Those of these runs (primary keys) with rewards that were asked for and have not come."""
