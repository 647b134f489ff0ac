"""The long-term memory of an evolution. Pure: the selection depends on the stored memories, not on their order of arrival.

Source: AlphaApollo §2.3: correct solutions first, then shorter ones.
"""

import math
from collections.abc import Sequence

from apps.reasoning.domain.candidate_events import CandidateScored
from apps.reasoning.domain.values import Value
from apps.reasoning.reading.turns.actions import Report
from apps.reasoning.scaffolds.candidates.desk import Candidate
from apps.reasoning.scaffolds.candidates.ranking import id_of
from apps.reasoning.story.candidates import Candidate as RecordedCandidate
from apps.reasoning.story.candidates import Candidates


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

    def is_confirmed(self, evaluators: int) -> bool:
        """Whether a first and a second panel of `evaluators` pass the solution unanimously."""
        return self.is_unanimous and self.of > evaluators

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
    return _counted([None if report is None else report.correct for report in reports])


def _counted(verdicts: Sequence[float | None]) -> Judgement:
    valid = [one for one in verdicts if one is not None]
    return Judgement(ayes=sum(one > 0 for one in valid), valid=len(valid), of=len(verdicts))


def handed_in(found: Candidates, evaluators: int) -> str:
    """The solution with the best judgement by complete panels; ties go to the shorter condensed text, which is known once the
    memory is stored. Before the first panel, the newest solution."""
    merits = {}
    for name, one in found.by_id.items():
        if judgement := _judgement(one, evaluators):
            length = len(one.memory.condensed) if one.memory else math.inf
            merits[name] = merit(judgement, judgement.is_confirmed(evaluators), length, one.order)
    if merits:
        return min(merits, key=lambda name: merits[name])
    return id_of(max(found.by_id.values(), key=lambda one: one.order, default=None))


def _judgement(one: RecordedCandidate, evaluators: int) -> Judgement | None:
    """The judgement of the complete panels on a solution, None before the first one."""
    if one.memory:
        return Judgement(ayes=one.memory.ayes, valid=one.memory.valid, of=one.memory.of)
    verdicts = {report.index: report.score for _, report in one.reports if isinstance(report, CandidateScored)}
    panels = [
        _counted([verdicts[index] for index in range(1, panel * evaluators + 1)])
        for panel in (1, 2)
        if len(verdicts.keys() & range(1, panel * evaluators + 1)) == panel * evaluators
    ]
    return panels[-1] if panels else None


def recalled(memories: Sequence[Memory], count: int) -> list[Memory]:
    """The `count` best memories: judged correct first, then undecided, then incorrect; ties go to the shorter one."""
    return sorted(memories, key=_rank)[:count]


def best(memories: Sequence[Memory]) -> Memory | None:
    """The memory that the run selects."""
    return min(memories, key=lambda one: merit(one.judgement, one.confirmed, *_rank(one)[1:]), default=None)


def merit(
    judgement: Judgement, confirmed: bool, length: float, order: tuple[int, ...]
) -> tuple[bool, int, float, float, tuple[int, ...]]:
    """The order of selection, least first: confirmed first, then by judgement and its share, then the shorter one."""
    share = judgement.ayes / judgement.valid if judgement.valid else 0.0
    return not confirmed, _class_of(judgement), -share, length, order


def _class_of(judgement: Judgement) -> int:
    return {True: 0, None: 1, False: 2}[judgement.correct]


def _rank(memory: Memory) -> tuple[int, int, tuple[int, ...]]:
    return _class_of(memory.judgement), len(memory.condensed), memory.candidate.order
