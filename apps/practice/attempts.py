"""The student's own decisions: try a problem, set it aside and take it up again, call it done, lend it as an example."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem, Paper
from apps.contests.practice import practice_problem, sheets_open
from apps.contests.windows import writing_refusal
from apps.practice.models import Attempt, Question
from apps.problems.models import Problem
from apps.submissions.models import Submission, SubmissionVersion

#: Days until a problem that was set aside comes back, by how often it was set aside.
RETURNS_AFTER: Sequence[int] = (2, 7, 21, 60)
#: A handed-in text of this length, or a page, counts as an attempt.
ATTEMPT_LENGTH = 120


def problem_try(*, person: User, problem: Problem) -> ContestProblem:
    """The problem to write at: of an open sheet that has it, else of the person's practice. The caller checked the reading."""
    rows = ContestProblem.objects.filter(contest__in=sheets_open(person), problem=problem).select_related("contest")
    on_sheet = next((row for row in rows if not writing_refusal(row)), None)
    return on_sheet or practice_problem(person=person, problem=problem)


def attempt_of(submission: Submission) -> Attempt:
    """The decisions about a text, unsaved if there are none."""
    return Attempt.objects.filter(submission=submission).first() or Attempt(submission=submission)


@transaction.atomic
def set_aside(*, paper: Paper, problem: ContestProblem) -> Attempt:
    """Set a problem aside. It comes back after 2, 7, 21 and then every 60 days."""
    attempt = _locked(paper, problem)
    if attempt.aside_at is None:
        now = timezone.now()
        days = RETURNS_AFTER[min(attempt.times_aside, len(RETURNS_AFTER) - 1)]
        attempt.aside_at, attempt.returns_at, attempt.done_at = now, now + timedelta(days=days), None
        attempt.times_aside += 1
        attempt.save()
    return attempt


@transaction.atomic
def take_up(*, paper: Paper, problem: ContestProblem) -> Attempt:
    """Take up a problem that was set aside or done."""
    attempt = _locked(paper, problem)
    attempt.aside_at = attempt.returns_at = attempt.done_at = None
    attempt.save()
    return attempt


@transaction.atomic
def call_done(*, paper: Paper, problem: ContestProblem) -> Attempt:
    """Call an attempt done; it leaves the list of open ones."""
    attempt = _locked(paper, problem)
    attempt.aside_at = attempt.returns_at = None
    attempt.done_at = attempt.done_at or timezone.now()
    attempt.save()
    return attempt


@transaction.atomic
def lend(*, paper: Paper, problem: ContestProblem, allows: bool) -> Attempt:
    """Allow coaches to show the text to others without a name, or end that. Ending it removes examples made from it."""
    attempt = _locked(paper, problem)
    attempt.may_be_example = allows
    attempt.save()
    if not allows:
        for version in attempt.submission.versions.filter(example__isnull=False).select_related("example"):
            version.example.delete()
    return attempt


def see(submission: Submission) -> None:
    """Record that the student opened the attempt: answers so far are no news any more."""
    now = timezone.now()
    Attempt.objects.update_or_create(submission=submission, defaults={"seen_at": now})
    unread = Question.objects.filter(version__submission=submission, answered_at__isnull=False, read_at=None)
    unread.update(read_at=now)


def versions_of(submission: Submission) -> list[SubmissionVersion]:
    """The versions that were not withdrawn, oldest first."""
    return list(submission.versions.filter(withdrawn_at=None).order_by("number"))


def has_attempt(submission: Submission | None) -> bool:
    """Whether a version shows own work: some sentences or a page."""
    if submission is None or submission.pk is None:
        return False
    return any(len(version.source.strip()) >= ATTEMPT_LENGTH or version.pages.exists() for version in versions_of(submission))


def _locked(paper: Paper, problem: ContestProblem) -> Attempt:
    submission, _ = Submission.objects.get_or_create(paper=paper, problem=problem)
    Submission.objects.select_for_update().get(pk=submission.pk)
    attempt, _ = Attempt.objects.get_or_create(submission=submission)
    return attempt
