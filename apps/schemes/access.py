"""Who may see and change marking schemes: those who may see solutions.

A student meets none of it: schemes tell how a problem is solved; notes, caps and zero-credit lists are for markers only.
"""

import uuid

from django.http import Http404, HttpRequest

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.problems.access import problem_may_edit, solutions_may_read, solutions_of_may_read, solved_get_for
from apps.problems.models import Problem
from apps.schemes.models import MarkingScheme, SchemeVersion
from apps.schemes.selectors import version_current
from apps.ui.sent import whole_number


def reader_of(request: HttpRequest) -> User:
    """The signed-in person, or `Http404` where they may not read schemes."""
    user = user_of(request)
    if not solutions_may_read(user):
        raise Http404("There is no such page.")
    return user


def writer_of(request: HttpRequest) -> User:
    """The signed-in person, or `Http404` where they may not change schemes."""
    user = reader_of(request)
    if not problem_may_edit(user):
        raise Http404("There is no such page.")
    return user


def schemes_problem_for(user: User, slug: str) -> Problem:
    """The problem whose schemes `user` may read, or `Http404`."""
    return solved_get_for(user, slug)


def scheme_get_for(user: User, public_id: uuid.UUID) -> MarkingScheme:
    """The scheme, or `Http404`."""
    found = MarkingScheme.objects.select_related("problem").filter(public_id=public_id).first()
    if found is None or not solutions_of_may_read(user, found.problem):
        raise Http404("There is no such marking scheme.")
    return found


def version_get_for(user: User, scheme: MarkingScheme, number: str) -> SchemeVersion:
    """A version by its number, the one to show first where `number` is empty, or `Http404`."""
    if not solutions_of_may_read(user, scheme.problem):
        raise Http404("There is no such marking scheme.")
    if not number:
        return version_current(scheme)
    asked = whole_number(number, 6)
    version = scheme.versions.filter(number=asked).first() if asked is not None else None
    if version is None:
        raise Http404(f"This scheme has no version {number}.")
    return version
