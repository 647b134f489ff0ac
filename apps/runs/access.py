"""Who may get a run. Coaches and researchers see all runs, but of a problem held back from them their own only; students see
none. Changing a run needs its owner or staff.
"""

import uuid

from django.db.models import Q, QuerySet
from django.http import Http404

from apps.accounts.models import Role, User
from apps.problems.holding import Text, held_back
from apps.problems.models import Problem
from apps.runs.models import Run


def run_visible_to(user: User) -> QuerySet[Run]:
    """The runs `user` may see."""
    if not user.may_see_runs:
        return Run.objects.none()
    held = Problem.objects.filter(held_back(Text.SOLUTIONS, user))
    return Run.objects.filter(Q(owner=user) | ~Q(problem_version__problem__in=held))


def run_get_for(user: User, public_id: uuid.UUID | str) -> Run:
    """The run, or `Http404` where it does not exist or `user` may not see it."""
    run = run_visible_to(user).filter(public_id=public_id).select_related("problem_version__problem", "owner").first()
    if run is None:
        raise Http404("There is no such run, or you may not see it.")
    return run


def run_may_steer(user: User, run: Run) -> bool:
    """Owner, staff and researchers may pause, cancel, hint and fork; everybody else watches."""
    return user.is_active and (user.is_staff or run.owner_id == user.pk or user.role == Role.RESEARCHER)


def run_may_start(user: User) -> bool:
    """Coaches and researchers may start explorations."""
    return user.may_see_runs
