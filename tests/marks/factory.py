"""Factories for contests in marking: scripts by anonymous authors, and marks made through the services."""

import io
import uuid
from collections.abc import Sequence
from typing import Any

from PIL import Image

from apps.accounts.models import Role, User
from apps.contests.models import AuthorKind, ContestProblem, ContestState
from apps.contests.services import author_add, coach_add
from apps.marks.models import Mark, MarkingTask
from apps.marks.sealing.sealing import mark_seal
from apps.marks.setups import Choices, cases_prepare, setup_save
from apps.marks.workspace.claims import task_next
from apps.marks.workspace.drafts import Command, command_apply, draft_of
from apps.schemes.models import MarkingScheme
from apps.schemes.services import scheme_activate
from apps.submissions.models import Origin, Scan, Submission, SubmissionVersion, TextFormat, VersionScan
from apps.submissions.services import version_add
from tests.contests.factory import TEXT, make_contest, moved
from tests.problems.factory import make_problem
from tests.schemes.factory import make_scheme

ONE_PLACE = {"id": "v1", "step": 1, "fallacy": "gap", "words": "Why?"}


def marker(name: str) -> User:
    """Return the coach with this name; create the account if it is missing."""
    found = User.objects.filter(username=name).first()
    return found or User.objects.create_user(name, f"{name}@example.org", role=Role.COACH)


def problem_to_mark(organiser: User, *others: User, scripts: int = 3, markers: int = 1, **choices: Any) -> ContestProblem:
    """Create a problem in marking, with the active scheme of `tests.schemes`, coaches and scripts."""
    problem = make_problem()
    scheme = scheme_active(organiser, make_scheme(organiser, problem))
    contest = make_contest(organiser, problem, state=ContestState.OPEN)
    for other in others:
        coach_add(contest=contest, person=other)
    row = contest.problems.get()
    for number in range(scripts):
        script_add(row, f"author {number}")
    moved(contest, ContestState.MARKING)
    row = ContestProblem.objects.select_related("contest", "problem", "version", "captain").get(pk=row.pk)
    setup_save(problem=row, choices=Choices(scheme=scheme, markers=markers, **choices), by=organiser)
    cases_prepare(row)
    return ContestProblem.objects.select_related("contest", "problem", "version", "captain", "setup").get(pk=row.pk)


def scheme_active(by: User, scheme: MarkingScheme) -> MarkingScheme:
    """Activate the draft of a scheme and return the scheme."""
    scheme_activate(scheme=scheme, by=by, based_on=scheme.row_version)
    scheme.refresh_from_db()
    return scheme


def script_add(problem: ContestProblem, author: str, text: str = TEXT, person: User | None = None) -> None:
    """Hand in a text of an author without the browser."""
    paper = author_add(contest=problem.contest, name=author, kind=AuthorKind.STUDENT, person=person)
    submission = Submission.objects.create(paper=paper, problem=problem)
    version_add(submission=submission, text=text, text_format=TextFormat.MARKDOWN, origin=Origin.TYPED)


def script_scanned(
    problem: ContestProblem, author: str, *, pages: int = 2, size: tuple[int, int] = (600, 850), jpegs: Sequence[bytes] = ()
) -> None:
    """Hand in scanned pages of an author without a text, and make their case. `jpegs`: the pages, by default grey ones."""
    script_add(problem, author, "")
    version = SubmissionVersion.objects.select_related("submission").order_by("-pk")[0]
    out = io.BytesIO()
    Image.new("L", size, 220).save(out, "JPEG")
    for number in range(1, pages + 1):
        jpeg = jpegs[number - 1] if jpegs else out.getvalue()
        scan = Scan.objects.create(submission=version.submission, jpeg=jpeg, width=size[0], height=size[1])
        VersionScan.objects.create(version=version, scan=scan, number=number)
    cases_prepare(problem)


def task_whole(task: MarkingTask) -> MarkingTask:
    """Load the task with the relations that `access.task_get_for` selects."""
    return MarkingTask.objects.select_related(
        "case__problem__contest", "case__problem__problem", "case__problem__version", "case__problem__setup__scheme",
        "case__version__submission__paper",
    ).get(pk=task.pk)  # fmt: skip


def claimed(problem: ContestProblem, user: User) -> MarkingTask:
    """Claim the next script of a marker."""
    task = task_next(problem, user)
    assert task is not None, "no script is left to mark"
    return task_whole(task)


def commanded(task: MarkingTask, user: User, verb: str, **args: Any) -> Mark:
    """Apply one command to the current sheet."""
    mark = draft_of(task, user)
    command = Command(id=uuid.uuid4(), verb=verb, args=args, row_version=mark.row_version)
    return command_apply(task=task, user=user, command=command)


def sealed(task: MarkingTask, user: User, *commands: tuple[str, dict[str, Any]]) -> Mark:
    """Seal a mark; without commands, one with all points."""
    for verb, args in commands or (("points", {"points": 7}),):
        commanded(task, user, verb, **args)
    return mark_seal(task=task, user=user, row_version=draft_of(task, user).row_version, active_seconds=12.0)


def past_grace(mark: Mark) -> Mark:
    """Return the mark with its sealing time moved back by a minute, past the grace time."""
    from datetime import timedelta

    assert mark.sealed_at is not None
    Mark.objects.filter(pk=mark.pk).update(sealed_at=mark.sealed_at - timedelta(minutes=1))
    return Mark.objects.select_related("task__case__problem__contest", "marker", "scheme_version").get(pk=mark.pk)
