"""Writes to contests. Each is one transaction and told (`telling`); those of settings and state count `row_version` up.

`by` is who does it, None for the system.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Max
from django.utils import timezone

from apps.accounts.models import Role, User
from apps.contests.holding import held_elsewhere
from apps.contests.keeping import step_is_kept
from apps.contests.models import (
    AuthorKind,
    Contest,
    ContestCoach,
    ContestProblem,
    ContestState,
    Identity,
    Paper,
    PointStep,
    paper_number_random,
)
from apps.contests.telling import told
from apps.problems.models import Problem

PROBLEMS_AT_MOST = 30
_DRAWS = 20

#: What a command does: from which states, to which.
MOVES: dict[str, tuple[tuple[ContestState, ...], ContestState]] = {
    "open": ((ContestState.PREPARING,), ContestState.OPEN),
    "mark": ((ContestState.OPEN,), ContestState.MARKING),
    "reopen": ((ContestState.MARKING,), ContestState.OPEN),
    "close": ((ContestState.MARKING,), ContestState.CLOSED),
    "resume": ((ContestState.CLOSED,), ContestState.MARKING),
}


class ContestChanged(Exception):
    """Somebody else changed the contest meanwhile."""


class ContestRefused(Exception):
    """The contest is not in the state that this needs, or something is missing; the message says what."""


@dataclass(frozen=True)
class Settings:
    """What an organiser chooses. Times are aware."""

    title: str
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    is_anonymous: bool = True
    point_step: str = PointStep.WHOLE


@transaction.atomic
def contest_create(*, settings: Settings, by: User) -> Contest:
    """A new contest in preparation. Whoever makes it organises it and, if a coach, may reveal identities."""
    contest = Contest(created_by=by)
    _settings_apply(contest, settings)
    contest.full_clean()
    contest.save()
    ContestCoach.objects.create(contest=contest, person=by, is_organiser=True, may_reveal=by.role == Role.COACH)
    told(contest, "contest.created", by, **_settings_told(settings))
    return contest


@transaction.atomic
def contest_save(*, contest: Contest, settings: Settings, based_on: int, by: User | None = None) -> Contest:
    """Save settings. Anonymity cannot be taken from papers that were promised it, nor the step from points that were given.

    Raises `ContestChanged`, `ContestRefused`.
    """
    contest = contest_locked(contest, based_on)
    if contest.is_anonymous and not settings.is_anonymous and contest.state != ContestState.PREPARING:
        raise ContestRefused("Students handed in as anonymous; that stays so once a contest was opened.")
    if settings.point_step != contest.point_step and step_is_kept(contest):
        raise ContestRefused("Marks were sealed in these points; whole or half points stay as they are.")
    _settings_apply(contest, settings)
    contest.row_version += 1
    contest.full_clean()
    contest.save()
    told(contest, "contest.changed", by, **_settings_told(settings))
    return contest


@transaction.atomic
def contest_move(*, contest: Contest, verb: str, based_on: int, by: User | None = None) -> Contest:
    """Open, mark, reopen, close or resume. Opening freezes what students read.

    Raises `ContestChanged`, `ContestRefused`, and `KeyError` for another verb.
    """
    contest = contest_locked(contest, based_on)
    sources, target = MOVES[verb]
    if contest.state not in sources:
        raise ContestRefused(f"The contest is {contest.get_state_display().lower()}.")
    if verb == "open":
        if not contest.problems.exists():
            raise ContestRefused("It has no problem yet.")
        if by is not None and (held := ", ".join(row.label for row in held_elsewhere(contest, by))):
            raise ContestRefused(
                f"Another contest holds back problem {held}. Take it out, or wait until that contest is closed."
            )
        for row in contest.problems.select_related("problem"):
            row.version = row.problem.current
            row.save(update_fields=["version"])
    contest.state = target
    contest.row_version += 1
    contest.save(update_fields=["state", "row_version", "updated_at"])
    told(contest, f"contest.{verb}", by)
    return contest


@transaction.atomic
def problem_add(
    *, contest: Contest, problem: Problem, label: str = "", captain: User | None = None, by: User | None = None
) -> ContestProblem:
    """Put a problem at the end. An empty label becomes its number. Raises `ContestRefused`."""
    _in_preparation(contest)
    count = contest.problems.count()
    if count >= PROBLEMS_AT_MOST:
        raise ContestRefused(f"A contest has at most {PROBLEMS_AT_MOST} problems.")
    if contest.problems.filter(problem=problem).exists():
        raise ContestRefused("The contest has this problem already.")
    position = (contest.problems.aggregate(last=Max("position"))["last"] or 0) + 1
    label = label.strip() or str(position)
    if contest.problems.filter(label__iexact=label).exists():
        raise ContestRefused(f"Another problem is labelled {label}.")
    if captain is not None and not contest.coaches.filter(person=captain).exists():
        raise ContestRefused(f"{captain.username} is no coach of this contest.")
    row = ContestProblem(
        contest=contest, problem=problem, version=problem.current, position=position, label=label, captain=captain
    )
    row.full_clean()
    row.save()
    told(contest, "contest.problem", by, problem=str(row.public_id), captain=captain.username if captain else "")
    return row


@transaction.atomic
def problem_remove(*, row: ContestProblem, by: User | None = None) -> None:
    """Take a problem out again. Raises `ContestRefused` once the contest was opened."""
    _in_preparation(row.contest)
    told(row.contest, "contest.problem-out", by, title=row.problem.title)
    row.delete()


@transaction.atomic
def captain_set(*, row: ContestProblem, captain: User | None, by: User | None = None) -> None:
    """Name the coach who rules on a problem. Raises `ContestRefused`."""
    if captain is not None and not row.contest.coaches.filter(person=captain).exists():
        raise ContestRefused(f"{captain.username} is no coach of this contest.")
    row.captain = captain
    row.save(update_fields=["captain"])
    told(row.contest, "contest.captain", by, problem=str(row.public_id), person=captain.username if captain else "nobody")


@transaction.atomic
def coach_add(
    *, contest: Contest, person: User, may_reveal: bool = False, is_organiser: bool = False, by: User | None = None
) -> ContestCoach:
    """Let somebody mark, or organise too; who organises already goes on.

    Raises `ContestRefused` for students of the contest and for people without the role.
    """
    if not person.may_see_runs:
        raise ContestRefused(f"{person.username} is neither a coach nor a researcher.")
    if may_reveal and person.role != Role.COACH:
        raise ContestRefused("Only coaches may learn who wrote a paper.")
    if contest.identities.filter(person=person).exists():
        raise ContestRefused("This person takes part in the contest.")
    given = {"may_reveal": may_reveal} | ({"is_organiser": True} if is_organiser else {})
    coach, _ = ContestCoach.objects.update_or_create(contest=contest, person=person, defaults=given)
    now = {"is_organiser": coach.is_organiser, "may_reveal": coach.may_reveal}
    told(contest, "contest.coach", by, person=person.username, **now)
    return coach


@transaction.atomic
def coach_remove(*, coach: ContestCoach, by: User | None = None) -> None:
    """Take a coach out, and their captaincies. Raises `ContestRefused` for the last organiser."""
    others = coach.contest.coaches.filter(is_organiser=True).exclude(pk=coach.pk)
    if coach.is_organiser and not others.exists():
        raise ContestRefused("A contest needs an organiser.")
    coach.contest.problems.filter(captain=coach.person).update(captain=None)
    told(coach.contest, "contest.coach-out", by, person=coach.person.username)
    coach.delete()


@transaction.atomic
def students_add(*, contest: Contest, students: Iterable[tuple[User, str, str]], by: User | None = None) -> int:
    """Let people with schools and external ids take part, all or none; how many are new. Raises as `student_add`."""
    before = contest.identities.count()
    for person, school, external_id in students:
        student_add(contest=contest, person=person, school=school, external_id=external_id)
    if added := contest.identities.count() - before:
        told(contest, "contest.students", by, added=added)
    return added


@transaction.atomic
def student_add(*, contest: Contest, person: User, school: str = "", external_id: str = "") -> Paper:
    """Let somebody take part; their paper gets a random number. Adding somebody again changes their external id only, if given.

    Raises `ContestRefused` for coaches of the contest, once it is closed, and while it is being marked: whoever reads the
    papers then would know the one that came with the name.
    """
    if refusal := adding_refusal(contest):
        raise ContestRefused(refusal)
    if contest.coaches.filter(person=person).exists():
        raise ContestRefused(f"{person.username} is a coach of this contest.")
    known = contest.identities.filter(person=person).select_related("paper").first()
    if known is not None:
        contest.identities.filter(pk=known.pk).update(external_id=external_id or known.external_id)
        return known.paper
    name = person.get_full_name() or person.username
    more = {"school": school, "external_id": external_id}
    return author_add(contest=contest, name=name, kind=AuthorKind.STUDENT, person=person, **more)


@transaction.atomic
def author_add(*, contest: Contest, name: str, kind: AuthorKind, **more: Any) -> Paper:
    """A paper with a fresh random number, and apart from it who writes it. `more`: person, school, external id."""
    paper = _paper_new(contest)
    Identity.objects.create(contest=contest, paper=paper, name=name, kind=kind, **more)
    return paper


@transaction.atomic
def student_remove(*, identity: Identity, by: User | None = None) -> None:
    """Take somebody out who has not begun. Raises `ContestRefused` once the contest was opened."""
    _in_preparation(identity.contest)
    identity.paper.delete()
    told(identity.contest, "contest.student-out", by)


def adding_refusal(contest: Contest) -> str:
    """Why no author comes in now; empty where one can."""
    refusals = {
        ContestState.MARKING: "The contest is being marked; open it again first.",
        ContestState.CLOSED: "The contest is closed.",
    }
    return refusals.get(ContestState(contest.state), "")


def hand_in_refusal(contest: Contest, now: datetime | None = None) -> str:
    """Why nothing can be handed in now; empty where it can."""
    now = now or timezone.now()
    if contest.state != ContestState.OPEN:
        return "Nothing more can be handed in." if contest.state != ContestState.PREPARING else "The contest is not open yet."
    if contest.opens_at is not None and now < contest.opens_at:
        return "The contest is not open yet."
    if contest.closes_at is not None and now >= contest.closes_at:
        return "The time is over. Nothing more can be handed in."
    return ""


def _paper_new(contest: Contest) -> Paper:
    for _ in range(_DRAWS):
        try:
            with transaction.atomic():
                return Paper.objects.create(contest=contest, number=paper_number_random())
        except IntegrityError:
            continue
    raise ContestRefused("No free paper number was found. Try again.")


def _settings_apply(contest: Contest, settings: Settings) -> None:
    contest.title = " ".join(settings.title.split())
    contest.opens_at, contest.closes_at = settings.opens_at, settings.closes_at
    contest.is_anonymous, contest.point_step = settings.is_anonymous, settings.point_step


def _settings_told(settings: Settings) -> dict[str, object]:
    times = {"opens_at": settings.opens_at, "closes_at": settings.closes_at}
    chosen: dict[str, object] = {"title": settings.title, "is_anonymous": settings.is_anonymous}
    chosen["point_step"] = str(settings.point_step)
    return chosen | {name: at.isoformat(" ", "minutes") for name, at in times.items() if at is not None}


def _in_preparation(contest: Contest) -> None:
    if contest.state != ContestState.PREPARING:
        raise ContestRefused("The contest was opened; this can no longer be changed.")


def contest_locked(contest: Contest, based_on: int) -> Contest:
    """The row as it is, claimed for this transaction by counting up and down. Raises `ContestChanged`."""
    claimed = Contest.objects.filter(pk=contest.pk, row_version=based_on).update(row_version=F("row_version"))
    if not claimed:
        raise ContestChanged(f"{contest.title} was changed by somebody else meanwhile")
    return Contest.objects.get(pk=contest.pk)
