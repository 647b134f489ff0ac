"""Queries for contests. Only `roster` reads `Identity`, and it defers the paper."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Prefetch, QuerySet

from apps.accounts.models import User
from apps.contests.holding import HOLDING
from apps.contests.models import (
    AFTER_SIGN_OFF,
    Contest,
    ContestCoach,
    ContestKind,
    ContestProblem,
    Identity,
    IdentityReveal,
    Paper,
)


@dataclass(frozen=True)
class OpeningAfterSignOff:
    """One opening of all identities; `by` is None if the account was deleted."""

    by: User | None
    at: datetime
    papers: int


@dataclass(frozen=True)
class AdministrationRow:
    """A contest in the list for staff. `hidden`: number of its problems hidden in the library; `organisers`: user names."""

    contest: Contest
    organisers: list[str]
    papers: int
    hidden: int


def administration_rows(contests: QuerySet[Contest]) -> list[AdministrationRow]:
    """Rows of contests for staff, those with the most hidden problems first."""
    coaches = Prefetch("coaches", ContestCoach.objects.filter(is_organiser=True).select_related("person"), "organising")
    counted = contests.annotate(problem_count=Count("problems", distinct=True), paper_count=Count("papers", distinct=True))
    rows = []
    for contest in counted.prefetch_related(coaches):
        hides = contest.kind == ContestKind.CONTEST and contest.state in HOLDING and not contest.shows_problems
        hidden = contest.problem_count if hides else 0
        names = [coach.person.username for coach in contest.organising]
        rows.append(AdministrationRow(contest, names, contest.paper_count, hidden))
    return sorted(rows, key=lambda row: -row.hidden)


def problem_list(contest: Contest) -> QuerySet[ContestProblem]:
    """The problems in order, with their texts and captains."""
    return contest.problems.select_related("problem", "version", "captain")


def coach_list(contest: Contest) -> QuerySet[ContestCoach]:
    """The coaches by name."""
    return contest.coaches.select_related("person")


def paper_list(contest: Contest) -> QuerySet[Paper]:
    """The papers by number, an order independent of time and name."""
    return contest.papers.order_by("number")


def roster(contest: Contest) -> QuerySet[Identity]:
    """The identities by name, without papers."""
    return contest.identities.defer("paper").order_by("name", "pk")


def reveal_list(contest: Contest) -> QuerySet[IdentityReveal]:
    """Identities opened individually, newest first."""
    rows = IdentityReveal.objects.filter(paper__contest=contest).exclude(reason=AFTER_SIGN_OFF)
    return rows.select_related("paper", "by").order_by("-at")


def openings_after_sign_off(contest: Contest) -> list[OpeningAfterSignOff]:
    """Openings of all identities, one per user with its first time and number of papers; the earliest first."""
    rows = IdentityReveal.objects.filter(paper__contest=contest, reason=AFTER_SIGN_OFF).order_by()
    found = rows.values("by").annotate(first=Min("at"), papers=Count("pk")).order_by("first")
    people = User.objects.in_bulk([row["by"] for row in found if row["by"]])
    return [OpeningAfterSignOff(people.get(row["by"]), row["first"], row["papers"]) for row in found]
