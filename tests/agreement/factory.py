"""Create many settled scripts of a contest with marks and suggestions directly in the database."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import AuthorKind, ContestProblem, ContestState
from apps.contests.services import author_add
from apps.marks.models import CaseState, Mark, MarkingCase, MarkingTask, MarkState, Slot, Suggestion, SuggestionState
from apps.schemes.models import SchemeVersion
from apps.submissions.models import Origin, Submission, TextFormat
from apps.submissions.services import version_add
from tests.contests.factory import make_contest, moved
from tests.marks.factory import scheme_active
from tests.problems.factory import make_problem
from tests.schemes.factory import make_scheme

GRADER = "scripted"
MARKS = (0, 0, 1, 2, 5, 6, 7, 7)
GIVEN = (0, 1, 1, 4, 5, 7, 7, 7)


def settled_contest(
    organiser: User,
    marker: User,
    scripts: int = 40,
    sheets: Sequence[dict[str, Any]] = (),
    bodies: Sequence[dict[str, Any]] = (),
) -> ContestProblem:
    """A problem whose scripts are settled by first marks of `marker`, each with a suggestion; points from `MARKS`, `GIVEN`.

    `sheets` and `bodies`: sheets of the marks and additional content of the suggestions, one per script.
    """
    problem = make_problem()
    scheme = scheme_active(organiser, make_scheme(organiser, problem))
    contest = make_contest(organiser, problem, state=ContestState.OPEN)
    row = contest.problems.get()
    for number in range(scripts):
        paper = author_add(contest=contest, name=f"author {number}", kind=AuthorKind.STUDENT)
        submission = Submission.objects.create(paper=paper, problem=row)
        version_add(
            submission=submission,
            text=f"Step one of {number}.\n\nStep two.",
            text_format=TextFormat.MARKDOWN,
            origin=Origin.TYPED,
        )
    moved(contest, ContestState.MARKING)
    row = ContestProblem.objects.select_related("contest", "problem").get(pk=row.pk)
    version = scheme.versions.get(status="active")
    for number, submission in enumerate(Submission.objects.filter(problem=row).order_by("pk")):
        case = MarkingCase.objects.create(problem=row, version=submission.versions.get(), state=CaseState.SETTLED)
        sheet: dict[str, Any] = {"sheet": sheets[number]} if sheets else {}
        marked(case, marker, MARKS[number % len(MARKS)], version, **sheet)
        suggested(case, GIVEN[number % len(GIVEN)], version, **(bodies[number] if bodies else {}))
    return row


def marked(
    case: MarkingCase, marker: User, points: float, version: SchemeVersion | None, slot: Slot = Slot.FIRST, **more: Any
) -> Mark:
    """A sealed mark; `sealed_at` defaults to ten minutes ago."""
    at = more.pop("sealed_at", timezone.now() - timedelta(minutes=10))
    task = MarkingTask.objects.create(case=case, slot=slot, assignee=marker, done_at=at)
    sheet = more.pop("sheet", {"typed": str(points)})
    given = Decimal(str(points))
    return Mark.objects.create(
        task=task, marker=marker, scheme_version=version, state=MarkState.SEALED, sheet=sheet, sealed_sheet=sheet,
        points=more.pop("now", given), sealed_points=given, sealed_at=at, **more,
    )  # fmt: skip


def suggested(
    case: MarkingCase, points: float | None, version: SchemeVersion | None, grader: str = GRADER, **body: Any
) -> Suggestion:
    """A finished suggestion of a grader for a script, with `points` or without."""
    shares: Sequence[dict[str, Any]] = [] if points is None else [{"points": str(points), "share": 1.0}]
    return Suggestion.objects.create(
        version=case.version, scheme_version=version, grader=grader, key=uuid.uuid4().hex, state=SuggestionState.DONE,
        body={"distribution": shares, **body}, done_at=timezone.now(),
    )  # fmt: skip
