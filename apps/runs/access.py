"""Access to runs. Coaches and researchers see all runs, but only their own on a problem held back from them. Students see
none. Owners, staff and researchers may change a run. Other apps hide further runs, also from owners (`runs_hide`).
"""

import uuid
from collections.abc import Callable, Sequence

from django.db.models import Q, QuerySet
from django.http import Http404

from apps.accounts.models import Role, User
from apps.problems.holding import Text, held_back
from apps.problems.models import Problem
from apps.runs.models import Run

#: Returns the runs that are hidden from a user, including the user's own.
Rule = Callable[[User], QuerySet[Run]]
_HIDING: list[Rule] = []
#: Called when a user opens a run.
Watch = Callable[[User, Run], None]
_WATCHING: list[Watch] = []


def runs_hide(rule: Rule) -> None:
    """Register a rule that hides runs. Registering it again has no effect."""
    if rule not in _HIDING:
        _HIDING.append(rule)


def runs_watch(watch: Watch) -> None:
    """Register a function for opened runs. Registering it again has no effect."""
    if watch not in _WATCHING:
        _WATCHING.append(watch)


def run_visible_to(user: User) -> QuerySet[Run]:
    """The runs `user` may see."""
    if not user.may_see_runs:
        return Run.objects.none()
    runs = Run.objects.filter(Q(owner=user) | ~Q(problem_version__problem__in=_held(user)))
    for rule in _HIDING:
        runs = runs.exclude(pk__in=rule(user).values("pk"))
    return runs


def runs_hidden_from(user: User, among: Q) -> QuerySet[Run, int]:
    """Primary keys of the runs with a property that `run_visible_to` leaves out. For users who may see runs.

    For lists of all runs: it visits fewer rows than the complement of `run_visible_to`, which is for few runs.
    """
    held = Run.objects.filter(problem_version__problem__in=_held(user)).exclude(owner=user)
    hidden = [one.filter(among).order_by() for one in (held, *(rule(user) for rule in _HIDING))]
    return hidden[0].values_list("pk", flat=True).union(*(one.values_list("pk", flat=True) for one in hidden[1:]))


def _held(user: User) -> QuerySet[Problem]:
    return Problem.objects.filter(held_back(Text.SOLUTIONS, user))


def run_get_for(user: User, public_id: uuid.UUID | str) -> Run:
    """The run, or `Http404` if it does not exist or `user` may not see it. Calls the functions of `runs_watch`."""
    return runs_get_for(user, [public_id])[0]


def runs_get_for(user: User, public_ids: Sequence[uuid.UUID | str]) -> list[Run]:
    """Several runs in this order. Raises `Http404` like `run_get_for` if one of them is missing."""
    rows = run_visible_to(user).filter(public_id__in=public_ids).select_related("problem_version__problem", "owner")
    found = {str(run.public_id): run for run in rows}
    if any(str(one) not in found for one in public_ids):
        raise Http404("There is no such run, or you may not see it.")
    for run in found.values():
        for watch in _WATCHING:
            watch(user, run)
    return [found[str(one)] for one in public_ids]


def run_may_steer(user: User, run: Run) -> bool:
    """Owner, staff and researchers may pause, cancel, hint and fork; others may only watch."""
    return user.is_active and (user.is_staff or run.owner_id == user.pk or user.role == Role.RESEARCHER)


def run_may_start(user: User) -> bool:
    """Coaches and researchers may start explorations."""
    return user.may_see_runs
