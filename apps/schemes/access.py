"""Permissions for marking schemes: readers of solutions may see them.

Students see no scheme, because schemes reveal solutions. Notes, caps and zero-credit lists are for markers only.
"""

import uuid

from django.http import Http404, HttpRequest

from apps.accounts.access import user_allowed
from apps.accounts.models import User
from apps.problems.access import problem_may_edit, solutions_may_read, solutions_of_may_read, solved_get_for
from apps.problems.models import Problem
from apps.schemes.models import MarkingScheme, SchemeVersion
from apps.schemes.selectors import version_current
from apps.ui.sent import whole_number


def reader_of(request: HttpRequest) -> User:
    """Return the signed-in user. Raises `Http404` if they may not read schemes."""
    return user_allowed(request, solutions_may_read)


def writer_of(request: HttpRequest) -> User:
    """Return the signed-in user. Raises `Http404` if they may not change schemes."""
    return user_allowed(request, problem_may_edit)


def schemes_problem_for(user: User, slug: str) -> Problem:
    """Return a problem whose schemes `user` may read, or raise `Http404`."""
    return solved_get_for(user, slug)


def scheme_get_for(user: User, public_id: uuid.UUID) -> MarkingScheme:
    """Return a readable scheme or raise `Http404`."""
    found = MarkingScheme.objects.select_related("problem").filter(public_id=public_id).first()
    if found is None or not solutions_of_may_read(user, found.problem):
        raise Http404("There is no such marking scheme.")
    return found


def version_get_for(user: User, scheme: MarkingScheme, number: str) -> SchemeVersion:
    """Return a version by number, or the current one if `number` is empty. Raises `Http404`."""
    if not solutions_of_may_read(user, scheme.problem):
        raise Http404("There is no such marking scheme.")
    if not number:
        return version_current(scheme)
    asked = whole_number(number, 6)
    version = scheme.versions.filter(number=asked).first() if asked is not None else None
    if version is None:
        raise Http404(f"This scheme has no version {number}.")
    return version
