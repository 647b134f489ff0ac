"""Helpers of the views: the run of the address, and whether to render only a part."""

import uuid

from django.http import HttpRequest

from apps.accounts.access import user_of
from apps.runs.access import run_get_for
from apps.runs.models import Run


def run_of(request: HttpRequest, run_id: uuid.UUID) -> Run:
    """The run of the address. Raises `Http404` if it does not exist or the user may not see it."""
    return run_get_for(user_of(request), run_id)


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx requests a part of the page at this address."""
    return request.headers.get("HX-Request") == "true" and "HX-History-Restore-Request" not in request.headers
