"""The events of a run as server-sent events. Each stream is a coroutine of the web process, without a thread of its own."""

import uuid
from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated, Any

from django.http import Http404, HttpRequest, StreamingHttpResponse
from ninja import Header, Query

from apps.accounts.access import user_of
from apps.accounts.selectors import token_find
from apps.config.api.operations import LARGEST, api
from apps.config.api.refusals import ApiRefused
from apps.config.api.tokens import token_given
from apps.processes.threads import request_thread_release
from apps.runs.access import run_get_for
from apps.runs.live.admission import SocketRefused, admitted, session_name
from apps.runs.live.following import event_stream
from apps.runs.models import Run

#: Simultaneous streams of a user in one web process.
STREAMS_AT_MOST = 16
_open: Counter[int] = Counter()

_FRAMES = {
    "description": "server-sent events: `id` is the number of the event, `event` its kind, `data` as in EventOut; `end` last",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


@api.get(
    "/runs/{uuid:run_id}/stream",
    url_name="run_stream",
    summary="Follow a run",
    openapi_extra={"responses": {200: _FRAMES}},
)
def run_stream(
    request: HttpRequest,
    run_id: uuid.UUID,
    after: Annotated[int, Query(ge=0, le=LARGEST, description="only events after this number")] = 0,
    last: Annotated[
        int | None, Header(alias="Last-Event-ID", ge=0, le=LARGEST, description="as `after`, which it overrides")
    ] = None,
) -> Any:
    """Events as they are recorded, without gaps, until the run has ended. Reconnect with the number of the last one."""
    user = user_of(request)
    run = run_get_for(user, run_id)
    sent = after if last is None else last
    if sent > run.last_seq:
        raise ApiRefused(
            409, f"The newest event has the number {run.last_seq}. A restore may have undone later ones: begin with after=0."
        )
    _require_place(user.pk)
    token = token_given(request)
    session_key = None if token else request.session.session_key
    session = session_name(session_key) if session_key else ""
    frames = event_stream(run, sent, lambda: _may_follow(run, token, session_key), session)
    response = StreamingHttpResponse(_counted(user.pk, frames), content_type="text/event-stream; charset=utf-8")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"  # nginx would collect frames otherwise.
    return response


def _require_place(user: int) -> None:
    """Raise `ApiRefused` if a user has all their streams open."""
    if _open[user] >= STREAMS_AT_MOST:
        raise ApiRefused(429, f"You follow {STREAMS_AT_MOST} runs at once, the limit. Close another stream first.", 5)


async def _counted(user: int, frames: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The frames, counted as an open stream from the first one on: a request that was given up earlier holds no place.

    Of requests that came at once, those without a place get no frame, and are refused when they reconnect.
    """
    if _open[user] >= STREAMS_AT_MOST:
        return
    _open[user] += 1
    request_thread_release()
    try:
        async for frame in frames:
            yield frame
    finally:
        _open[user] -= 1
        await frames.aclose()  # type: ignore[attr-defined]


def _may_follow(run: Run, token: str, session_key: str | None) -> bool:
    """Whether the user may still see the run, and the token or the session is still valid."""
    try:
        if not token:
            admitted(session_key, str(run.public_id))
        elif (found := token_find(token)) is None:
            return False
        else:
            run_get_for(found.user, run.public_id)
    except (Http404, SocketRefused):
        return False
    return True
