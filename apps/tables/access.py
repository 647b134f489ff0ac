"""Who imports tables: organisers who may read the roster, because tables have names. Others get `Http404`.

Only the person who uploaded a table reads it, its import and the points in it: a table can have points of people for papers
that co-organisers still mark.
"""

import uuid

from django.http import Http404, HttpRequest

from apps.accounts.access import user_allowed
from apps.accounts.models import Role, User
from apps.contests.access import contest_may_create, rostered_get_for
from apps.contests.models import Contest, ContestKind
from apps.tables.models import TableFile, TableImport

GONE = "This upload was deleted. Choose the file again."


def contest_may_make(user: User) -> bool:
    """Whether the user may make a contest from a table: coaches may, as they will read its roster."""
    return contest_may_create(user) and user.role == Role.COACH


def maker_of(request: HttpRequest) -> User:
    """The signed-in user. Raises `Http404` if they may not make a contest from a table."""
    return user_allowed(request, contest_may_make)


def table_contest_for(user: User, public_id: uuid.UUID) -> Contest:
    """The contest or sheet into which this organiser may import tables, or `Http404`."""
    contest = rostered_get_for(user, public_id)
    if contest.kind == ContestKind.PRACTICE:
        raise Http404("There is no such contest.")
    return contest


def table_file_for(user: User, public_id: uuid.UUID) -> TableFile:
    """The user's own upload, while they may import it, or `Http404`."""
    found = TableFile.objects.select_related("contest", "owner").filter(owner=user, public_id=public_id).first()
    if found is None:
        raise Http404(GONE)
    if found.contest is not None:
        table_contest_for(user, found.contest.public_id)
    elif not contest_may_make(user):
        raise Http404(GONE)
    return found


def was_imported(user: User, public_id: uuid.UUID) -> bool:
    """Whether this upload of the user was imported, and deleted therefore."""
    return TableImport.objects.filter(by=user, public_id=public_id).exists()


def table_import_for(user: User, public_id: uuid.UUID) -> TableImport:
    """The user's own import, or `Http404`."""
    found = TableImport.objects.select_related("contest").filter(by=user, public_id=public_id).first()
    if found is None:
        raise Http404("There is no such import.")
    table_contest_for(user, found.contest.public_id)
    return found
