"""What a run came to, with all that a caller may want to know of it."""

from decimal import Decimal
from typing import Any

from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.domain.generation import Usage
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.values import Value
from apps.reasoning.graders.grader import FINAL
from apps.reasoning.graders.grading import Grading
from apps.reasoning.story.run_story import RunStory, fold

from .progress import ProgressJournal


class UnreadAnswer(Value):
    """An answer that could not be read, and why. `text` is the whole of it. `was_asked_again`: another call asked once more."""

    call: str
    role: str
    reason: str
    text: str
    was_asked_again: bool


class FailedCall(Value):
    """A call that ended without a text, and why."""

    call: str
    role: str
    reason: str


class RunResult(Value):
    """What every run has. `usage` counts the tokens of `calls`, the model calls of this run in all processes that worked on it.

    `seconds` is the time of those processes. `seed` is the root of all seeds: with it the run can be asked for again.
    """

    outcome: Outcome
    calls: int
    usage: Usage
    seconds: float
    seed: int
    unread: tuple[UnreadAnswer, ...]
    failed: tuple[FailedCall, ...]


class SolveResult(RunResult):
    """A search for a proof. `proof` is the selected text and `steps` its steps; both are empty where nothing could be read.

    `accepted` is None where nothing judged it.
    """

    proof: str
    steps: tuple[str, ...]

    @property
    def accepted(self) -> bool | None:
        return self.outcome.accepted


class GradeResult(RunResult):
    """A grading of one script. `points` is None where it is unscored; `grading` holds findings, items and comments.

    `prepared` are the pieces made from the problem and its references alone, for the next script of the same problem.
    """

    grading: Grading
    prepared: dict[str, dict[str, Any]]

    @property
    def points(self) -> Decimal | None:
        """Proposed points of `grading.scale`."""
        return self.grading.points

    @property
    def unscored(self) -> str:
        """Why there are no points; empty where there are."""
        return self.grading.unscored


def solve_result(journal: ProgressJournal, outcome: Outcome, seed: int) -> SolveResult:
    """The result of a scaffold."""
    story = _story(journal)
    version = story.lemmas.proofs.get(outcome.proof)
    own = {"proof": version.drafted.text, "steps": version.drafted.steps} if version else {"proof": "", "steps": ()}
    return SolveResult.model_validate(_common(journal, story, outcome, seed).model_dump() | own)


def grade_result(journal: ProgressJournal, outcome: Outcome, seed: int) -> GradeResult:
    """The result of a grader."""
    story = _story(journal)
    prepared = {name: event.value for name, event in story.gradings.prepared.items()}
    own = {"grading": story.gradings.reached[FINAL].grading, "prepared": prepared}
    return GradeResult.model_validate(_common(journal, story, outcome, seed).model_dump() | own)


def _common(journal: ProgressJournal, story: RunStory, outcome: Outcome, seed: int) -> RunResult:
    records = {record.key: record for record in journal.records}
    asked = [record for record in records.values() if record.was_asked]
    spent = journal.spent
    return RunResult(
        outcome=outcome,
        calls=spent.calls,
        usage=sum((record.usage for record in asked), Usage()),
        seconds=spent.seconds,
        seed=seed,
        unread=tuple(_unread(event, records.get(event.call)) for _, event in story.calls.unread),
        failed=tuple(FailedCall(call=one.key, role=one.role, reason=one.failure) for one in asked if one.final is None),
    )


def _unread(event: OutputUnread, record: StepRecord | None) -> UnreadAnswer:
    text = record.final.text if record and record.final else ""
    return UnreadAnswer(call=event.call, role=event.role, reason=event.reason, text=text, was_asked_again=bool(event.again))


def _story(journal: ProgressJournal) -> RunStory:
    return fold((seq, event) for seq, _, event in journal.events)
