"""What waits for a coach: questions, disagreements and claims, over practice and all sheets, the oldest first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import Contest, ContestKind, ContestState
from apps.marks.waiting import Waiting
from apps.practice.access import texts_answered_by
from apps.practice.models import Disagreement, Question, Settlement
from apps.submissions.models import SubmissionVersion

KINDS = {"question": "Question", "disagreement": "Disagrees with a remark", "claim": "Says a remark is settled"}
PRACTICE = "practice"


@dataclass(frozen=True)
class QueueRow:
    """One waiting thing about a version. `kind` is a key of `KINDS`."""

    kind: str
    version: SubmissionVersion
    at: datetime
    words: str

    @property
    def name(self) -> str:
        return KINDS[self.kind]


def queue_rows(user: User, *, course: str = "", topic: str = "") -> list[QueueRow]:
    """Waiting rows for a coach, oldest first. `course`: public id of a sheet, or "practice"; `topic`: of the problem."""
    texts = texts_answered_by(user)
    if course == PRACTICE:
        texts = texts.filter(paper__contest__kind=ContestKind.PRACTICE)
    elif course:
        texts = texts.filter(paper__contest__public_id=course)
    if topic:
        texts = texts.filter(problem__problem__topic=topic)
    keys = texts.values("pk")
    shown = ("submission__paper__contest", "submission__problem__problem")
    questions = Question.objects.filter(withdrawn_at=None, answered_at=None, version__submission__in=keys)
    disputes = Disagreement.objects.filter(is_upheld=None, remark__version__submission__in=keys)
    claims = Settlement.objects.filter(holds=None, version__submission__in=keys)
    rows = [
        QueueRow("question", one.version, one.asked_at, one.words)
        for one in questions.select_related(*(f"version__{name}" for name in shown))
    ]
    rows += [
        QueueRow("disagreement", one.remark.version, one.at, one.words)
        for one in disputes.select_related(*(f"remark__version__{name}" for name in shown))
    ]
    rows += [
        QueueRow("claim", one.version, one.at, one.remark.words)
        for one in claims.select_related("remark", *(f"version__{name}" for name in shown))
    ]
    return sorted((row for row in rows if row.version.withdrawn_at is None), key=lambda row: row.at)


def next_version(user: User, after: SubmissionVersion | None = None) -> SubmissionVersion | None:
    """The version with the longest waiting thing; with `after`, the one that follows it in the queue, and then the first."""
    versions = list(dict.fromkeys(row.version for row in queue_rows(user)))
    if after in versions:
        place = versions.index(after)
        versions = versions[place + 1 :] + versions[:place]
    return versions[0] if versions else None


def courses_of(user: User) -> list[Contest]:
    """The sheets with texts that this coach may answer, by title."""
    sheets = texts_answered_by(user).filter(paper__contest__kind=ContestKind.SHEET).values("paper__contest")
    return list(Contest.objects.filter(pk__in=sheets).order_by("title"))


def sheets_coached(user: User) -> list[Contest]:
    """The open and closed sheets that the user coaches, by title."""
    sheets = Contest.objects.filter(kind=ContestKind.SHEET, coaches__person=user)
    return list(sheets.filter(state__in=(ContestState.OPEN, ContestState.CLOSED)).order_by("title"))


def questions_waiting(user: User, contests: Sequence[Contest]) -> Iterable[tuple[int, Waiting]]:
    """Waiting things by sheet, for the home page."""
    counts: dict[int, int] = {}
    for row in queue_rows(user):
        key = row.version.submission.paper.contest_id
        counts[key] = counts.get(key, 0) + 1
    for contest in contests:
        if count := counts.get(contest.pk, 0):
            url = f"{reverse('practice:queue')}?course={contest.public_id}"
            yield contest.pk, Waiting(count, "student question to answer", "student questions to answer", url)


def practice_waiting(user: User) -> int:
    """The number of waiting things in practice, outside sheets."""
    return len(queue_rows(user, course=PRACTICE)) if user.may_see_runs else 0
