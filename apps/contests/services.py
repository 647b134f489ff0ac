"""Write operations of contests. Each is one transaction and publishes an event (`record_keepers`).

Changes of settings and state increment `row_version`. `by` is the acting user, None for the system.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Max

from apps.accounts.models import Role, User
from apps.contests.holding import held_elsewhere
from apps.contests.keeping import step_is_kept
from apps.contests.models import (
    AuthorKind,
    Contest,
    ContestCoach,
    ContestKind,
    ContestProblem,
    ContestState,
    Identity,
    Paper,
    PointStep,
    paper_number_random,
)
from apps.contests.record_keepers import event_publish
from apps.contests.windows import adding_refusal
from apps.problems.models import Problem
from apps.ui.zones import stamped, zone_of

PROBLEMS_AT_MOST = 30
_NUMBER_ATTEMPTS = 20

#: Source states and target state of each command.
MOVES: dict[str, tuple[tuple[ContestState, ...], ContestState]] = {
    "open": ((ContestState.PREPARING,), ContestState.OPEN),
    "mark": ((ContestState.OPEN,), ContestState.MARKING),
    "reopen": ((ContestState.MARKING,), ContestState.OPEN),
    "close": ((ContestState.MARKING,), ContestState.CLOSED),
    "resume": ((ContestState.CLOSED,), ContestState.MARKING),
}


class ContestChanged(Exception):
    """Another user changed the contest meanwhile."""


class ContestRefused(Exception):
    """The operation is not allowed now; the message gives the reason."""


@dataclass(frozen=True)
class Settings:
    """Settings of a contest. Times are aware."""

    title: str
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    is_anonymous: bool = True
    point_step: str = PointStep.WHOLE
    kind: str = ContestKind.CONTEST
    time_zone: str = ""


@transaction.atomic
def contest_create(*, settings: Settings, by: User) -> Contest:
    """Create a contest in preparation. Its creator is an organiser and, with the role of coach, may open identities."""
    contest = Contest(created_by=by)
    _settings_apply(contest, settings)
    contest.full_clean()
    contest.save()
    ContestCoach.objects.create(contest=contest, person=by, is_organiser=True, may_reveal=by.role == Role.COACH)
    event_publish(contest, "contest.created", by, **_settings_body(settings))
    return contest


@transaction.atomic
def contest_save(*, contest: Contest, settings: Settings, based_on: int, by: User | None = None) -> Contest:
    """Save settings. Anonymity is fixed once the contest was opened, the point step once marks were sealed.

    Raises `ContestChanged`, `ContestRefused`.
    """
    contest = contest_locked(contest, based_on)
    if contest.is_anonymous and not settings.is_anonymous and contest.state != ContestState.PREPARING:
        raise ContestRefused("Settings were not saved: an opened contest must stay anonymous.")
    if settings.kind != contest.kind and contest.state != ContestState.PREPARING:
        raise ContestRefused("Settings were not saved: after the opening, a contest stays a contest and a sheet a sheet.")
    if settings.point_step != contest.point_step and step_is_kept(contest):
        raise ContestRefused("Settings were not saved: you cannot change the point step after marks were sealed.")
    _settings_apply(contest, settings)
    contest.row_version += 1
    contest.full_clean()
    contest.save()
    event_publish(contest, "contest.changed", by, **_settings_body(settings))
    return contest


@transaction.atomic
def contest_move(*, contest: Contest, verb: str, based_on: int, by: User | None = None) -> Contest:
    """Open, mark, reopen, close or resume a contest. Opening fixes the versions of the problems.

    Raises `ContestChanged`, `ContestRefused`, and `KeyError` for another verb.
    """
    contest = contest_locked(contest, based_on)
    sources, target = MOVES[verb]
    if contest.state not in sources:
        raise ContestRefused(f"This is not possible now: the contest is {contest.get_state_display().lower()}.")
    if verb == "open":
        if not contest.problems.exists():
            raise ContestRefused("The contest has no problem yet. Add one before you open it.")
        if by is not None and (held := ", ".join(row.label for row in held_elsewhere(contest, by))):
            raise ContestRefused(f"Another contest holds back problem {held}. Remove it, or wait until that contest is closed.")
        for row in contest.problems.select_related("problem"):
            row.version = row.problem.current
            row.save(update_fields=["version"])
    contest.state = target
    contest.row_version += 1
    contest.save(update_fields=["state", "row_version", "updated_at"])
    event_publish(contest, f"contest.{verb}", by)
    return contest


@transaction.atomic
def problem_add(
    *, contest: Contest, problem: Problem, label: str = "", captain: User | None = None, by: User | None = None
) -> ContestProblem:
    """Append a problem. An empty label becomes its position. Raises `ContestRefused`."""
    _require_preparation(contest)
    count = contest.problems.count()
    if count >= PROBLEMS_AT_MOST:
        raise ContestRefused(f"A contest has at most {PROBLEMS_AT_MOST} problems.")
    if contest.problems.filter(problem=problem).exists():
        raise ContestRefused("The contest already has this problem.")
    position = (contest.problems.aggregate(last=Max("position"))["last"] or 0) + 1
    label = label.strip() or str(position)
    if contest.problems.filter(label__iexact=label).exists():
        raise ContestRefused(f"Another problem is labelled {label}. Choose another label.")
    if captain is not None and not contest.coaches.filter(person=captain).exists():
        raise ContestRefused(f"{captain.username} is no coach of this contest.")
    row = ContestProblem(
        contest=contest, problem=problem, version=problem.current, position=position, label=label, captain=captain
    )
    row.full_clean()
    row.save()
    event_publish(contest, "contest.problem", by, problem=str(row.public_id), captain=captain.username if captain else "")
    return row


@transaction.atomic
def problem_remove(*, row: ContestProblem, by: User | None = None) -> None:
    """Remove a problem. Raises `ContestRefused` once the contest was opened."""
    _require_preparation(row.contest)
    event_publish(row.contest, "contest.problem-out", by, title=row.problem.title)
    row.delete()


@transaction.atomic
def captain_set(*, row: ContestProblem, captain: User | None, by: User | None = None) -> None:
    """Set or clear the captain of a problem. Raises `ContestRefused` if the captain is not a coach of the contest."""
    if captain is not None and not row.contest.coaches.filter(person=captain).exists():
        raise ContestRefused(f"{captain.username} is no coach of this contest.")
    row.captain = captain
    row.save(update_fields=["captain"])
    name = captain.username if captain else "none"
    event_publish(row.contest, "contest.captain", by, problem=str(row.public_id), person=name)


@transaction.atomic
def coach_add(
    *, contest: Contest, person: User, may_reveal: bool = False, is_organiser: bool = False, by: User | None = None
) -> ContestCoach:
    """Add a coach or extend their permissions; an organiser stays an organiser.

    Raises `ContestRefused` for students of the contest and for users who are neither coach nor researcher.
    """
    if not person.may_see_runs:
        raise ContestRefused(f"{person.username} is neither a coach nor a researcher.")
    if may_reveal and person.role != Role.COACH:
        raise ContestRefused("Only coaches may open identities.")
    if contest.identities.filter(person=person).exists():
        raise ContestRefused("This person takes part in the contest, so they cannot coach it.")
    given = {"may_reveal": may_reveal} | ({"is_organiser": True} if is_organiser else {})
    coach, _ = ContestCoach.objects.update_or_create(contest=contest, person=person, defaults=given)
    now = {"is_organiser": coach.is_organiser, "may_reveal": coach.may_reveal}
    event_publish(contest, "contest.coach", by, person=person.username, **now)
    return coach


@transaction.atomic
def coach_remove(*, coach: ContestCoach, by: User | None = None) -> None:
    """Remove a coach and their captaincies. Raises `ContestRefused` for the last organiser."""
    others = coach.contest.coaches.filter(is_organiser=True).exclude(pk=coach.pk)
    if coach.is_organiser and not others.exists():
        raise ContestRefused("A contest needs an organiser. Name another one first.")
    coach.contest.problems.filter(captain=coach.person).update(captain=None)
    event_publish(coach.contest, "contest.coach-out", by, person=coach.person.username)
    coach.delete()


@transaction.atomic
def students_add(*, contest: Contest, students: Iterable[tuple[User, str, str]], by: User | None = None) -> int:
    """Add students with schools and external ids, all or none. Returns the number of new ones. Raises as `student_add`."""
    before = contest.identities.count()
    for person, school, external_id in students:
        student_add(contest=contest, person=person, school=school, external_id=external_id)
    if added := contest.identities.count() - before:
        event_publish(contest, "contest.students", by, added=added)
    return added


@transaction.atomic
def student_add(*, contest: Contest, person: User, school: str = "", external_id: str = "") -> Paper:
    """Add a student and return their paper. For a known student, only a given external id is updated.

    Raises `ContestRefused` for coaches of the contest, once it is closed, and during marking: readers of the papers could then
    match a new paper to a new name.
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
    details = {"school": school, "external_id": external_id}
    return author_add(contest=contest, name=name, kind=AuthorKind.STUDENT, person=person, **details)


@transaction.atomic
def author_add(*, contest: Contest, name: str, kind: AuthorKind, **details: Any) -> Paper:
    """Create a paper with a random number and the identity of its author. `details`: person, school, external id."""
    paper = _paper_new(contest)
    Identity.objects.create(contest=contest, paper=paper, name=name, kind=kind, **details)
    return paper


@transaction.atomic
def student_remove(*, identity: Identity, by: User | None = None) -> None:
    """Remove a student. Raises `ContestRefused` once the contest was opened."""
    _require_preparation(identity.contest)
    identity.paper.delete()
    event_publish(identity.contest, "contest.student-out", by)


def _paper_new(contest: Contest) -> Paper:
    for _ in range(_NUMBER_ATTEMPTS):
        try:
            with transaction.atomic():
                return Paper.objects.create(contest=contest, number=paper_number_random())
        except IntegrityError:
            continue
    raise ContestRefused("Could not find a free paper number, so no paper was added. Try again.")


def _settings_apply(contest: Contest, settings: Settings) -> None:
    contest.title = " ".join(settings.title.split())
    contest.opens_at, contest.closes_at = settings.opens_at, settings.closes_at
    contest.is_anonymous, contest.point_step = settings.is_anonymous, settings.point_step
    contest.kind, contest.time_zone = settings.kind, settings.time_zone


def _settings_body(settings: Settings) -> dict[str, object]:
    times = {"opens_at": settings.opens_at, "closes_at": settings.closes_at}
    chosen: dict[str, object] = {"title": settings.title, "is_anonymous": settings.is_anonymous}
    chosen |= {"kind": str(settings.kind)} if settings.kind != ContestKind.CONTEST else {}
    chosen["point_step"] = str(settings.point_step)
    chosen |= {"time_zone": settings.time_zone} if settings.time_zone else {}
    zone = zone_of(settings.time_zone)
    return chosen | {name: stamped(at, zone) for name, at in times.items() if at is not None}


def _require_preparation(contest: Contest) -> None:
    if contest.state != ContestState.PREPARING:
        raise ContestRefused("The contest was opened, so this can no longer be changed.")


def contest_locked(contest: Contest, based_on: int) -> Contest:
    """Lock and reload the contest if its `row_version` is `based_on`. Raises `ContestChanged` otherwise."""
    claimed = Contest.objects.filter(pk=contest.pk, row_version=based_on).update(row_version=F("row_version"))
    if not claimed:
        raise ContestChanged(f"Another user changed {contest.title} meanwhile. Load the page again.")
    return Contest.objects.get(pk=contest.pk)
