"""The thread of a process that enqueues calls to the queues of their aliases. Calls of all its runs may share a message.

A Celery message costs both sides about a millisecond of processor time, whatever its content (benchmarks/orchestration.py).
With fast answers, several calls share a message; slow calls have their own, so that idle workers find work.
"""

import asyncio
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apps.processes.crash import crash_point
from apps.processes.pace import Pace

logger = logging.getLogger(__name__)

MOST_CALLS = 16
#: A message holds no more calls than the workers answered lately in the usual patience, between these.
WORTH_S, WORTH_AT_MOST_S = 0.05, 0.1
GATHER_S, GATHER_AT_MOST_S = 0.02, 0.05

Send = Callable[[Sequence[tuple[str, str]], str, int], None]
"""Sends pairs of a request as JSON and its fingerprint to a queue with a priority; raises where it could not."""


@dataclass(eq=False)
class Parcel:
    """A call on its way to the broker. `taken` is set in `loop` when the broker has it; setting `dropped` withdraws it."""

    queue: str
    priority: int
    body: tuple[str, str]
    loop: asyncio.AbstractEventLoop
    taken: "asyncio.Future[None]"
    dropped: bool = False


class Post:
    """Takes parcels from any thread. kombu's connections are not made for many threads, and a dead broker must stop no loop."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._incoming: queue.SimpleQueue[Parcel] = queue.SimpleQueue()
        self._waiting: dict[tuple[int, str], deque[Parcel]] = {}
        self._paces: dict[str, Pace] = {}
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def pace(self, queue_name: str) -> Pace:
        """How fast this process gets answers to calls of a queue."""
        return self._paces.setdefault(queue_name, Pace())

    def put(self, parcel: Parcel) -> None:
        """Send `parcel` soon, urgent ones first, again and again until the broker has it or it is dropped."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="broker-sender", daemon=True)
                self._thread.start()
        self._incoming.put(parcel)

    def _work(self) -> None:
        while True:
            if not self._waiting:
                self._sort_in(self._incoming.get())
                time.sleep(self._gather_s())
            while True:
                try:
                    self._sort_in(self._incoming.get_nowait())
                except queue.Empty:
                    break
            try:
                self._post(self._next())
            except Exception:  # The sender thread must not end.
                logger.exception("a message could not be made")

    def _sort_in(self, parcel: Parcel) -> None:
        self._waiting.setdefault((parcel.priority, parcel.queue), deque()).append(parcel)

    def _gather_s(self) -> float:
        """Time to wait for further calls: longer with fast answers."""
        [(_, name)] = self._waiting
        return self.pace(name).patience_s(GATHER_S, GATHER_AT_MOST_S) if self._calls_a_message(name) > 1 else 0.0

    def _calls_a_message(self, name: str) -> int:
        pace = self.pace(name)
        return max(1, min(MOST_CALLS, int(pace.answers_in(pace.patience_s(WORTH_S, WORTH_AT_MOST_S)))))

    def _next(self) -> list[Parcel]:
        """The parcels of the next message."""
        place = min(self._waiting, key=lambda place: place[0])
        waiting = self._waiting[place]
        size = min(len(waiting), self._calls_a_message(place[1]))
        parcels = [waiting.popleft() for _ in range(size)]
        if not waiting:
            del self._waiting[place]
        return parcels

    def _post(self, parcels: list[Parcel]) -> None:
        pause = 0.1
        crash_point("before_dispatch")
        while parcels := [parcel for parcel in parcels if not parcel.dropped]:
            try:
                self._send([parcel.body for parcel in parcels], parcels[0].queue, parcels[0].priority)
                break
            except Exception as error:  # kombu wraps transport errors differently by version; all mean "not sent".
                logger.warning("the broker did not take a call (%s), trying again", error)
                time.sleep(pause)
                pause = min(3.0, pause * 2)
        crash_point("after_dispatch")
        for parcel in parcels:
            _settle(parcel)


def _settle(parcel: Parcel) -> None:
    def settle() -> None:
        if not parcel.taken.done():
            parcel.taken.set_result(None)

    try:
        parcel.loop.call_soon_threadsafe(settle)
    except RuntimeError:  # The run has ended, and its loop is closed.
        logger.debug("a run ended while a call of it was sent")
