"""Helpers of the views: the run of the address, whether to render only a part, and texts sent in pieces."""

import uuid
from collections.abc import AsyncIterator, Iterator
from itertools import islice

from asgiref.sync import sync_to_async
from django.http import HttpRequest

from apps.accounts.access import user_of
from apps.runs.access import run_get_for
from apps.runs.models import Run

_LINES_AT_ONCE = 200


def run_of(request: HttpRequest, run_id: uuid.UUID) -> Run:
    """The run of the address. Raises `Http404` if it does not exist or the user may not see it."""
    return run_get_for(user_of(request), run_id)


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx requests a part of the page at this address."""
    return request.headers.get("HX-Request") == "true" and "HX-History-Restore-Request" not in request.headers


async def in_threads(lines: Iterator[str]) -> AsyncIterator[str]:
    """The lines in chunks, each read in a thread, to keep the event loop free and memory small."""
    while piece := await sync_to_async(lambda: "".join(islice(lines, _LINES_AT_ONCE)))():
        yield piece
