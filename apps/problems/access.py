"""Who may see and change what of the library.

Everybody who is signed in reads statements. Answers, marking schemes and reference solutions are for coaches, researchers and
staff: a student must never meet a solution by accident. The same people create, edit, import and export. What is held back
(`holding`: problems of a contest that is not over) only those meet whom its rule lets. Problems that came with an imported set
of graded scripts are not listed; students cannot open them.
"""

import uuid

from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.problems.holding import Text, held_back
from apps.problems.models import ImportDraft, Problem


def problem_visible_to(user: User) -> QuerySet[Problem]:
    """The problems whose statements `user` may read, in the library or not."""
    if not user.is_active:
        return Problem.objects.none()
    problems = Problem.objects.exclude(held_back(Text.STATEMENT, user))
    return problems if solutions_may_read(user) else problems.filter(is_listed=True)


def library_of(user: User) -> QuerySet[Problem]:
    """The problems that `user` may read and that are in the library: what pages offer to choose from."""
    return problem_visible_to(user).filter(is_listed=True)


def problem_get_for(user: User, slug: str) -> Problem:
    """The problem, or `Http404`."""
    problem = problem_visible_to(user).filter(slug=slug).first()
    if problem is None:
        raise Http404("There is no such problem.")
    return problem


def solutions_may_read(user: User) -> bool:
    """Coaches, researchers and staff see answers, marking schemes and solutions of what is not held back from them."""
    return user.is_active and (user.may_see_runs or user.is_staff)


def solved_visible_to(user: User) -> QuerySet[Problem]:
    """The problems whose answers, marking schemes and reference solutions `user` may read."""
    if not solutions_may_read(user):
        return Problem.objects.none()
    return Problem.objects.exclude(held_back(Text.SOLUTIONS, user))


def solutions_of_may_read(user: User, problem: Problem) -> bool:
    """Whether `user` may read the answer, the marking schemes and the solutions of this problem."""
    return solved_visible_to(user).filter(pk=problem.pk).exists()


def solved_get_for(user: User, slug: str) -> Problem:
    """The problem for somebody who may read its solutions, or `Http404`."""
    problem = problem_get_for(user, slug)
    if not solutions_of_may_read(user, problem):
        raise Http404("There is no such page.")
    return problem


def problem_may_edit(user: User) -> bool:
    """Those who see solutions may also write them."""
    return solutions_may_read(user)


def author_of(request: HttpRequest) -> User:
    """The signed-in person, or `Http404` where they may not change the library."""
    user = user_of(request)
    if not problem_may_edit(user):
        raise Http404("There is no such page.")
    return user


def import_draft_get_for(user: User, public_id: uuid.UUID) -> ImportDraft:
    """An upload of this person's own, or `Http404`."""
    draft = ImportDraft.objects.filter(owner=user, public_id=public_id).first()
    if draft is None:
        raise Http404("This upload is no longer kept. Choose the file again.")
    return draft
