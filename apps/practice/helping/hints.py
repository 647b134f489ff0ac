"""Hints of the problem, one rung at a time, each after the student explained where they are."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from apps.contests.models import ContestProblem, Paper
from apps.practice.helping.rules import HelpRefused, help_refusal, rules_of, solutions_refusal
from apps.practice.models import TAIL_LENGTH, HintTaken
from apps.practice.questions import explained
from apps.problems.selectors import hint_texts
from apps.submissions.models import Submission


@dataclass(frozen=True)
class Hints:
    """The hints that the student took, and the next one: its level (None if there is none), why not now, and from when."""

    taken: list[HintTaken]
    level: int | None
    refusal: str
    opens_at: datetime | None = None


def hints_of(problem: ContestProblem, submission: Submission | None) -> Hints:
    """The hints of a text and the gate before the next one."""
    stored = submission is not None and submission.pk is not None
    taken = list(HintTaken.objects.filter(submission=submission)) if stored else []
    level = len(taken)
    rules = rules_of(problem.contest)
    texts = hint_texts(problem.problem)
    if not rules.gives_hints:
        return Hints(taken, None, "The coaches of this sheet do not offer hints.")
    if level not in texts:
        words = "These were all hints. Ask a coach if you are still stuck." if taken else "This problem has no hints yet."
        return Hints(taken, None, words)
    if refusal := help_refusal(problem) or solutions_refusal(problem):
        return Hints(taken, level, refusal)
    opens_at = taken[-1].at + timedelta(minutes=rules.hint_wait) if taken else None
    if opens_at is not None and timezone.now() < opens_at:
        return Hints(taken, level, "Try with this hint first.", opens_at)
    return Hints(taken, level, "")


@transaction.atomic
def hint_take(*, paper: Paper, problem: ContestProblem, level: int, explanation: str, step: int = 0) -> HintTaken:
    """Take the next hint. `level` is the one that the student saw; a repeat returns it. Raises `HelpRefused`."""
    submission, _ = Submission.objects.get_or_create(paper=paper, problem=problem)
    Submission.objects.select_for_update().get(pk=submission.pk)
    hints = hints_of(problem, submission)
    if known := next((one for one in hints.taken if one.level == level), None):
        return known
    if hints.refusal or hints.level != level:
        raise HelpRefused(hints.refusal or "The hints have changed meanwhile. Read the current ones first.")
    text = hint_texts(problem.problem)[level]
    tail = _tail(submission, step)
    values = {"step": step if tail else 0, "explanation": explained(explanation), "text": text, "tail": tail}
    return HintTaken.objects.create(submission=submission, level=level, **values)


def _tail(submission: Submission, step: int) -> str:
    """The end of a step of the newest version, by which a page finds it in the draft; empty without such a step."""
    newest = submission.versions.filter(withdrawn_at=None).order_by("-number").first()
    found = newest.steps.filter(number=step).first() if newest is not None and step else None
    return found.text.strip()[-TAIL_LENGTH:] if found is not None else ""
