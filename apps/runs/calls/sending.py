"""Enqueues the calls of one run to the queues of their aliases, through the shared sender of the process."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from apps.processes.pace import Pace
from apps.processes.streams import DAY_S, SENT_AT, broker_time, cancel_key, sync_client
from apps.reasoning.domain.generation import GenerationRequest
from apps.runs.calls.posting import GATHER_S, WORTH_S, Parcel, Post
from apps.runs.queues import generate

logger = logging.getLogger(__name__)

READ_AT_MOST_S = 0.1


class CallSender:
    """One per run, in the run's event loop. `queues` names the queue of each alias."""

    def __init__(self, queues: Mapping[str, str], post: Post | None = None) -> None:
        self._queues = queues
        self._post = post or _post
        self._on_their_way: set[Parcel] = set()
        self._pace = Pace()

    def answered(self, alias: str, took_s: float) -> None:
        """An answer came; the pace of answers decides how many calls share a message."""
        self._pace.count(took_s)
        self._post.pace(self._queues[alias]).count(took_s)

    @property
    def read_wait_s(self) -> float:
        """How long to wait for further answers, to handle them together; 0 where they come too slowly for that to pay."""
        if self._pace.answers_in(WORTH_S) < 2:
            return 0.0
        return self._pace.patience_s(GATHER_S, READ_AT_MOST_S)

    async def send(self, request: GenerationRequest, fingerprint: str) -> None:
        """Return when the broker has the call, however long that takes. A call that cannot be written as JSON raises here."""
        loop = asyncio.get_running_loop()
        queue = self._queues[request.alias]
        parcel = Parcel(queue, request.priority, (request.model_dump_json(), fingerprint), loop, loop.create_future())
        self._on_their_way.add(parcel)
        self._post.put(parcel)
        try:
            await parcel.taken
        finally:
            parcel.dropped = True  # Also after a cancellation: the call need not be sent.
            self._on_their_way.discard(parcel)

    def close(self) -> None:
        """Send nothing more."""
        for parcel in self._on_their_way:
            parcel.dropped = True


def send_now(calls: Sequence[tuple[str, str]], queue: str, priority: int) -> None:
    """Send `calls`, pairs of a request as JSON and its fingerprint, as one message. Raises what kombu raises.

    The header `sent_at` lets the reaper see what still waits in the queue (`streams.oldest_message`).
    """
    # Celery would otherwise log the whole request.
    unprinted: dict[str, Any] = {"argsrepr": f"{len(calls)} calls", "kwargsrepr": ""}
    headers = {SENT_AT: str(broker_time(sync_client()))}
    generate.apply_async(
        args=(calls,), queue=queue, priority=priority, ignore_result=True, retry=False, headers=headers, **unprinted
    )


_post = Post(lambda calls, queue, priority: send_now(calls, queue, priority))


def stop_calls(run: str) -> None:
    """Make the workers drop the run's calls, by a persistent flag, because a message may be missed."""
    try:
        sync_client().set(cancel_key(run), "1", ex=DAY_S)
    except Exception:
        logger.warning("run %s: could not set the flag that stops its calls on the workers", run, exc_info=True)
