"""Compare an own attempt with a reference solution, step by step."""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from apps.practice.attempts import attempt_of, has_attempt
from apps.practice.helping.rules import HelpRefused, solution_refusal
from apps.practice.models import Attempt
from apps.reasoning.texts.segmentation import segment
from apps.submissions.models import Submission


@dataclass(frozen=True)
class SolutionShown:
    """A reference solution as far as the student has opened it."""

    title: str
    steps: list[str]
    total: int

    @property
    def left(self) -> int:
        return self.total - len(self.steps)


def refusal_of(submission: Submission) -> str:
    """Why the author may not compare now; empty if they may."""
    return solution_refusal(submission.problem, has_attempt=has_attempt(submission))


@transaction.atomic
def step_show(*, submission: Submission, shown: int) -> Attempt:
    """Open the next step; `shown` is the number that the student saw, so that a repeat opens none. Raises `HelpRefused`."""
    Submission.objects.select_for_update().get(pk=submission.pk)
    if refusal := refusal_of(submission):
        raise HelpRefused(refusal)
    attempt = attempt_of(submission)
    if attempt.shown == shown:
        attempt.shown = shown + 1
        attempt.compared_at = attempt.compared_at or timezone.now()
        attempt.save()
    return attempt


def solutions_shown(submission: Submission, attempt: Attempt) -> list[SolutionShown]:
    """The reference solutions of the problem, each up to the step that the student has opened."""
    found = []
    for solution in submission.problem.problem.reference_solutions.all():
        steps = [solution.text[step.start : step.end] for step in segment(solution.text)]
        found.append(SolutionShown(solution.approach or "Solution", steps[: attempt.shown], len(steps)))
    return found
