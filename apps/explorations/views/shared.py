"""What the views of this app share: who asks, for which run, and whether a part of a page is enough."""

import uuid

from django.http import HttpRequest

from apps.accounts.access import user_of
from apps.runs.access import run_get_for
from apps.runs.models import Run


def run_of(request: HttpRequest, run_id: uuid.UUID) -> Run:
    """The run of the address. Raises `Http404` where it does not exist or the person may not see it."""
    return run_get_for(user_of(request), run_id)


def wants_part(request: HttpRequest) -> bool:
    """True where htmx asks for a part of a page; the whole page stands at the same address."""
    return request.headers.get("HX-Request") == "true" and "HX-History-Restore-Request" not in request.headers
