"""What the views of this app share: who asks, for which run, and whether a part of a page is enough."""

import uuid

from django.http import Http404, HttpRequest

from apps.accounts.models import User
from apps.runs.access import run_get_for
from apps.runs.models import Run


def user_of(request: HttpRequest) -> User:
    """The signed-in person; the login middleware has turned all others away."""
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def run_of(request: HttpRequest, run_id: uuid.UUID) -> Run:
    """The run of the address. Raises `Http404` where it does not exist or the person may not see it."""
    return run_get_for(user_of(request), run_id)


def wants_part(request: HttpRequest) -> bool:
    """True where htmx asks for a part of a page; the whole page stands at the same address."""
    return request.headers.get("HX-Request") == "true" and "HX-History-Restore-Request" not in request.headers
