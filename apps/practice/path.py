"""The page of a student: what waits, what was answered, what comes back, all attempts, and problems that fit."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.access import papers_written_by
from apps.practice.access import HELPED
from apps.practice.models import Attempt, Disagreement, Outcome, Question, Remark, Settlement
from apps.problems.access import library_of
from apps.problems.models import Problem
from apps.submissions.models import Submission, SubmissionVersion

SUGGESTED = 6
DAYS_COUNTED = 14
#: Spellings of easy levels, the easiest first; other levels follow in no order.
LEVELS = ("First steps", "pre-IMO", "IMO easy", "IMO medium", "IMO hard")


@dataclass(frozen=True)
class AttemptRow:
    """A problem that the student tried, with its newest version and question. `news`: when a coach last answered anything."""

    submission: Submission
    attempt: Attempt | None
    newest: SubmissionVersion | None
    question: Question | None
    news: datetime | None = None

    @property
    def is_new(self) -> bool:
        """Whether a coach said something that the student has not opened."""
        seen = self.attempt.seen_at if self.attempt is not None else None
        return self.news is not None and (seen is None or seen < self.news)

    @property
    def problem(self) -> Problem:
        return self.submission.problem.problem

    @property
    def state(self) -> str:
        """`aside`, `done`, `asked`, `answered`, `written` or `begun`."""
        if self.attempt is not None and self.attempt.aside_at is not None:
            return "aside"
        if self.attempt is not None and self.attempt.done_at is not None:
            return "done"
        if self.question is not None and self.newest is not None and self.question.version_id == self.newest.pk:
            return "answered" if self.question.answered_at else "asked"
        return "written" if self.newest is not None else "begun"

    @property
    def words(self) -> str:
        """The state in words."""
        return {
            "aside": "set aside",
            "done": "done",
            "asked": "waits for a coach",
            "answered": Outcome(self.question.outcome).label.lower() if self.question and self.question.outcome else "answered",
            "written": "handed in",
            "begun": "draft",
        }[self.state]

    @property
    def is_missed(self) -> bool:
        """Whether the problem was not solved so far, as far as anyone said."""
        return self.state == "aside" or (self.question is not None and self.question.outcome == Outcome.NOT_YET)


@dataclass(frozen=True)
class Path:
    """Everything on the page. `days`: on how many of the last 14 days something was handed in."""

    rows: list[AttemptRow]
    suggested: list[Problem]
    days: int
    now: datetime = field(default_factory=timezone.now)

    @property
    def answered(self) -> list[AttemptRow]:
        """Attempts with answers, remarks or decisions that the student has not read."""
        return [row for row in self.rows if row.is_new and row.newest is not None]

    @property
    def waiting(self) -> list[AttemptRow]:
        return [row for row in self.rows if row.state == "asked"]

    @property
    def returning(self) -> list[AttemptRow]:
        """Problems that were set aside and are back."""
        due = (row for row in self.rows if row.attempt and row.attempt.returns_at and row.attempt.returns_at <= self.now)
        return list(due)

    @property
    def open(self) -> list[AttemptRow]:
        unread = self.answered
        return [row for row in self.rows if row.state in ("begun", "written", "answered", "asked") and row not in unread]

    @property
    def resting(self) -> list[AttemptRow]:
        """Set aside, and not back yet."""
        return [row for row in self.rows if row.state == "aside" and row not in self.returning]

    @property
    def done(self) -> list[AttemptRow]:
        return [row for row in self.rows if row.state == "done"]


def path_of(user: User) -> Path:
    """The page of this student."""
    rows = attempt_rows(user)
    return Path(rows, problems_that_fit(user, rows), _days(user))


def attempt_rows(user: User) -> list[AttemptRow]:
    """The student's attempts in practice and on sheets, the newest activity first."""
    texts = list(
        texts_of(user).select_related("problem__problem", "paper__contest", "attempt").order_by("-draft_saved_at", "-pk")
    )
    keys = [text.pk for text in texts]
    newest = {one.submission_id: one for one in _versions(keys).order_by("number")}
    asked = Question.objects.filter(version__submission__in=keys, withdrawn_at=None).order_by("asked_at")
    questions = {one.version.submission_id: one for one in asked.select_related("version")}
    news = _news(keys)
    return [
        AttemptRow(text, getattr(text, "attempt", None), newest.get(text.pk), questions.get(text.pk), news.get(text.pk))
        for text in texts
    ]


def problems_that_fit(user: User, rows: list[AttemptRow]) -> list[Problem]:
    """Untried problems of the library: topics of missed problems first, then easy levels, then topics tried less."""
    missed = Counter(row.problem.topic for row in rows if row.is_missed)
    tried = Counter(row.problem.topic for row in rows)
    fresh = library_of(user).exclude(pk__in=[row.problem.pk for row in rows])
    ranks = {level: rank for rank, level in enumerate(LEVELS)}
    order = sorted(fresh, key=lambda one: (-missed[one.topic], ranks.get(one.level, len(LEVELS)), tried[one.topic], one.title))
    return order[:SUGGESTED]


def texts_of(user: User) -> QuerySet[Submission]:
    """The user's own texts in practice and on sheets."""
    return Submission.objects.filter(paper__in=papers_written_by(user), paper__contest__kind__in=HELPED)


def _news(keys: list[int]) -> dict[int, datetime]:
    """When a coach last answered, remarked or decided something, by text."""
    sources = (
        Question.objects.filter(version__submission__in=keys).values_list("version__submission", "answered_at"),
        Remark.objects.filter(version__submission__in=keys).exclude(by=None).values_list("version__submission", "at"),
        Disagreement.objects.filter(remark__version__submission__in=keys).values_list(
            "remark__version__submission", "replied_at"
        ),
        Settlement.objects.filter(version__submission__in=keys)
        .exclude(by=None)
        .values_list("version__submission", "decided_at"),
    )
    found: dict[int, datetime] = {}
    for rows in sources:
        for key, at in rows:
            if at is not None and (key not in found or found[key] < at):
                found[key] = at
    return found


def _versions(keys: list[int]) -> QuerySet[SubmissionVersion]:
    return SubmissionVersion.objects.filter(submission__in=keys, withdrawn_at=None).defer("raw", "source")


def _days(user: User) -> int:
    since = timezone.now() - timedelta(days=DAYS_COUNTED)
    times = SubmissionVersion.objects.filter(submission__in=texts_of(user), handed_in_at__gte=since)
    return len({at.date() for at in times.values_list("handed_in_at", flat=True)})
