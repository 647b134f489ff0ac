"""Permissions for the library.

All signed-in users read statements. Only coaches, researchers and staff read answers, marking schemes and reference solutions,
so that students never see a solution by accident. The same users create, edit, import and export problems. Rules (`holding`)
limit who reads held-back problems, such as those of an open contest. Problems imported with a set of graded scripts are not
listed; students cannot open them.
"""

import uuid

from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from apps.accounts.access import user_allowed
from apps.accounts.models import User
from apps.problems.holding import Text, held_back
from apps.problems.models import ImportDraft, Problem


def problem_visible_to(user: User) -> QuerySet[Problem]:
    """Problems with statements that `user` may read, in the library or outside it."""
    if not user.is_active:
        return Problem.objects.none()
    problems = Problem.objects.exclude(held_back(Text.STATEMENT, user))
    return problems if solutions_may_read(user) else problems.filter(is_listed=True)


def library_of(user: User) -> QuerySet[Problem]:
    """Problems in the library that `user` may read; pages offer these as choices."""
    return problem_visible_to(user).filter(is_listed=True)


def problem_get_for(user: User, slug: str) -> Problem:
    """Return a visible problem or raise `Http404`."""
    problem = problem_visible_to(user).filter(slug=slug).first()
    if problem is None:
        raise Http404("There is no such problem.")
    return problem


def solutions_may_read(user: User) -> bool:
    """Whether the user reads answers, schemes and solutions that are not held back: coaches, researchers and staff do."""
    return user.is_active and (user.may_see_runs or user.is_staff)


def solved_visible_to(user: User) -> QuerySet[Problem]:
    """Problems with answers, marking schemes and solutions that `user` may read."""
    if not solutions_may_read(user):
        return Problem.objects.none()
    return Problem.objects.exclude(held_back(Text.SOLUTIONS, user))


def solutions_of_may_read(user: User, problem: Problem) -> bool:
    """Whether `user` may read the answer, the marking schemes and the solutions of this problem."""
    return solved_visible_to(user).filter(pk=problem.pk).exists()


def solved_get_for(user: User, slug: str) -> Problem:
    """Return a problem for a user who may read its solutions, or raise `Http404`."""
    problem = problem_get_for(user, slug)
    if not solutions_of_may_read(user, problem):
        raise Http404("There is no such page.")
    return problem


def problem_may_edit(user: User) -> bool:
    """Whether the user may change problems: readers of solutions may."""
    return solutions_may_read(user)


def author_of(request: HttpRequest) -> User:
    """Return the signed-in user. Raises `Http404` if they may not change the library."""
    return user_allowed(request, problem_may_edit)


def import_draft_get_for(user: User, public_id: uuid.UUID) -> ImportDraft:
    """Return the user's own upload or raise `Http404`."""
    draft = ImportDraft.objects.filter(owner=user, public_id=public_id).first()
    if draft is None:
        raise Http404("This upload was deleted. Choose the file again.")
    return draft
