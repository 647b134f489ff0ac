"""Reads of contests. None of these touches `Identity` but `roster`, which has no paper in it."""

from django.db.models import QuerySet

from apps.contests.models import Contest, ContestCoach, ContestProblem, Identity, IdentityReveal, Paper


def problem_list(contest: Contest) -> QuerySet[ContestProblem]:
    """The problems in order, with their texts and captains."""
    return contest.problems.select_related("problem", "version", "captain")


def coach_list(contest: Contest) -> QuerySet[ContestCoach]:
    """The coaches by name."""
    return contest.coaches.select_related("person")


def paper_list(contest: Contest) -> QuerySet[Paper]:
    """The papers by number, which is no order of time or name."""
    return contest.papers.order_by("number")


def roster(contest: Contest) -> QuerySet[Identity]:
    """Who takes part, by name, without papers."""
    return contest.identities.defer("paper").order_by("name", "pk")


def reveal_list(contest: Contest) -> QuerySet[IdentityReveal]:
    """Which identities were opened, newest first."""
    return IdentityReveal.objects.filter(paper__contest=contest).select_related("paper", "by").order_by("-at")
