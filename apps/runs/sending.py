"""Puts the calls of one run on the queues of their aliases. Calls that wait at the same moment may share a message.

A Celery message costs both sides about a millisecond of processor time, whatever is in it (benchmarks/orchestration.py). Where
answers come fast, several calls share one; where a call takes seconds, each has its own, so that an idle worker finds work.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from apps.reasoning.domain.generation import GenerationRequest
from apps.runs.crash import crash_point
from apps.runs.streams import DAY_S, SENT_AT, broker_time, cancel_key, sync_client
from apps.runs.tasks import generate

logger = logging.getLogger(__name__)

#: One thread sends: kombu's connection pool is not made for many, and a dead broker must not stop an event loop.
_sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="broker-sender")
MOST_CALLS = 8
#: A message holds no more calls than the workers answered lately in this time.
WORTH_S = 0.05
GATHER_S = 0.02
#: Answers that come in this part of a call's usual time are read together, if they are to wait longer than `GATHER_S`.
READ_PART = 0.1
READ_AT_MOST_S = 0.1


@dataclass
class _Outgoing:
    request: GenerationRequest
    fingerprint: str
    taken: "asyncio.Future[None]"


class CallSender:
    """One per run, in the run's event loop. `queues` names the queue of each alias."""

    def __init__(self, queues: Mapping[str, str]) -> None:
        self._queues = queues
        self._waiting: dict[tuple[str, int], deque[_Outgoing]] = {}
        self._work: asyncio.Task[None] | None = None
        self._answers: deque[tuple[float, float]] = deque(maxlen=64)

    def answered(self, took_s: float) -> None:
        """An answer came; the rate of answers decides how many calls share a message."""
        self._answers.append((time.monotonic(), took_s))

    @property
    def read_wait_s(self) -> float:
        """How long to wait for further answers, to handle them together; 0 where they come too slowly for that to pay."""
        if self._calls_per_message() < 2:
            return 0.0
        usual_s = sum(took for _, took in self._answers) / len(self._answers)
        return max(GATHER_S, min(READ_AT_MOST_S, READ_PART * usual_s))

    async def send(self, request: GenerationRequest, fingerprint: str) -> None:
        """Return when the broker has the call, however long that takes."""
        outgoing = _Outgoing(request, fingerprint, asyncio.get_running_loop().create_future())
        self._waiting.setdefault((self._queues[request.alias], request.priority), deque()).append(outgoing)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._send_all())
        await outgoing.taken

    def close(self) -> None:
        """Send nothing more."""
        if self._work is not None:
            self._work.cancel()

    async def _send_all(self) -> None:
        # Whoever asks in this turn of the loop is still to come; where answers come fast, those of the next moment too.
        await asyncio.sleep(GATHER_S if self._calls_per_message() > 1 else 0)
        while self._waiting:
            for (queue, priority), waiting in sorted(self._waiting.items(), key=lambda item: item[0][1]):
                size = min(len(waiting), self._calls_per_message())
                calls = [call for call in (waiting.popleft() for _ in range(size)) if not call.taken.done()]
                if not waiting:
                    del self._waiting[queue, priority]
                if calls:
                    await self._send(queue, priority, calls)

    async def _send(self, queue: str, priority: int, calls: Sequence[_Outgoing]) -> None:
        pause = 0.1
        crash_point("before_dispatch")
        while True:
            try:
                await asyncio.get_running_loop().run_in_executor(_sender, send_now, _body(calls), queue, priority)
                break
            except Exception as error:  # kombu wraps transport errors differently by version; all mean "not sent".
                logger.warning("the broker did not take a call (%s), trying again", error)
                await asyncio.sleep(pause)
                pause = min(3.0, pause * 2)
        crash_point("after_dispatch")
        for call in calls:
            if not call.taken.done():
                call.taken.set_result(None)

    def _calls_per_message(self) -> int:
        if len(self._answers) < 2:
            return 1
        rate = len(self._answers) / max(1e-3, time.monotonic() - self._answers[0][0])
        return max(1, min(MOST_CALLS, int(rate * WORTH_S)))


def _body(calls: Sequence[_Outgoing]) -> list[tuple[str, str]]:
    return [(call.request.model_dump_json(), call.fingerprint) for call in calls]


def send_now(calls: Sequence[tuple[str, str]], queue: str, priority: int) -> None:
    """Send `calls`, pairs of a request as JSON and its fingerprint, as one message. Raises what kombu raises.

    The header `sent_at` lets the reaper see what still waits in the queue (`streams.oldest_message`).
    """
    # Celery would print the whole request for a log line that nobody asked for.
    unprinted: dict[str, Any] = {"argsrepr": f"{len(calls)} calls", "kwargsrepr": ""}
    headers = {SENT_AT: str(broker_time(sync_client()))}
    generate.apply_async(
        args=(calls,), queue=queue, priority=priority, ignore_result=True, retry=False, headers=headers, **unprinted
    )


def stop_calls(run: str) -> None:
    """Tell the workers to drop the run's calls: a flag that stays, because a message may be missed."""
    try:
        sync_client().set(cancel_key(run), "1", ex=DAY_S)
    except Exception:
        logger.warning("run %s: the workers could not be told to stop its calls", run, exc_info=True)
