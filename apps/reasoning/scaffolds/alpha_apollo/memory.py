"""The long-term memory of an evolution. Pure: the selection depends on the stored memories, not on their order of arrival.

Source: AlphaApollo §2.3: correct solutions first, then shorter ones.
"""

from collections.abc import Sequence

from apps.reasoning.domain.values import Value
from apps.reasoning.reading.turns.actions import Report
from apps.reasoning.scaffolds.candidates.desk import Candidate


class Judgement(Value):
    """The majority of the reports on a solution.

    `correct` is None if at most half of the reports are readable, or if the vote is tied.
    """

    ayes: int
    valid: int
    of: int

    @property
    def correct(self) -> bool | None:
        if not self.has_quorum or 2 * self.ayes == self.valid:
            return None
        return 2 * self.ayes > self.valid

    @property
    def has_quorum(self) -> bool:
        return 2 * self.valid > self.of

    @property
    def is_unanimous(self) -> bool:
        """Whether every report is readable and passes the solution."""
        return 0 < self.of == self.ayes


class Memory(Value):
    """A solution with its judgement, as shown to later solvers."""

    candidate: Candidate
    condensed: str
    judgement: Judgement
    report: str
    confirmed: bool = False

    @property
    def verdict(self) -> str:
        """The judgement in words, for prompts."""
        if self.judgement.correct is None:
            return "undecided"
        return "judged correct" if self.judgement.correct else "judged incorrect"


def judged(reports: Sequence[Report | None]) -> Judgement:
    """Count the readable reports."""
    valid = [report for report in reports if report is not None]
    return Judgement(ayes=sum(report.correct for report in valid), valid=len(valid), of=len(reports))


def recalled(memories: Sequence[Memory], count: int) -> list[Memory]:
    """The `count` best memories: judged correct first, then undecided, then incorrect; ties go to the shorter one."""
    return sorted(memories, key=_rank)[:count]


def best(memories: Sequence[Memory]) -> Memory | None:
    """The memory that the run selects: confirmed first, then by judgement and its share, then the shorter one."""
    return min(memories, key=lambda one: (not one.confirmed, _class_of(one), -_share(one), *_rank(one)[1:]), default=None)


def _class_of(memory: Memory) -> int:
    return {True: 0, None: 1, False: 2}[memory.judgement.correct]


def _share(memory: Memory) -> float:
    return memory.judgement.ayes / memory.judgement.valid if memory.judgement.valid else 0.0


def _rank(memory: Memory) -> tuple[int, int, tuple[int, ...]]:
    return _class_of(memory), len(memory.condensed), memory.candidate.order
