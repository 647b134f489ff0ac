"""Puts results on the streams of their runs: one thread, all that are ready in one round trip, for ever if need be."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from redis.exceptions import RedisError

from apps.reasoning.domain.generation import GenerationRequest
from apps.runs.crash import crash_point
from apps.runs.logs import about
from apps.runs.pace import Pace
from apps.runs.streams import HOUR_S, finished_key, results_key

logger = logging.getLogger(__name__)
RESULTS_KEPT_S = 7 * 24 * HOUR_S
MOST_AT_ONCE = 256
#: How long a result waits for others at most, where they come fast.
GATHER_AT_MOST_S = 0.05

Fields = dict[str, str]


@dataclass
class _Ended:
    request: GenerationRequest
    fingerprint: str
    make_fields: Callable[[], Fields | None]
    settled: "Future[None]" = field(default_factory=Future)


_Entry = tuple[_Ended, Fields]


def _fields_of(ended: _Ended) -> Fields | None:
    """A result that cannot be told is an error of its call, not of the thread that all calls need."""
    try:
        return ended.make_fields()
    except Exception as error:
        logger.exception("the result of %s cannot be told", ended.request.call_id, extra=about(ended.request))
        return _failure(error)


def _failure(error: Exception) -> Fields:
    """The entry for a call that failed inside the worker; it is asked again."""
    told = f"The worker failed on this call ({type(error).__name__}: {error})."
    return {"error": "EngineLost", "message": told.encode(errors="replace").decode()}


class ResultOutbox:
    """`client` is the process' Redis client; `on_settled` is called with a request when nothing more is to be done for it."""

    def __init__(self, client: Any, on_settled: Callable[[GenerationRequest], None]) -> None:
        self._redis = client
        self._on_settled = on_settled
        self._queue: queue.SimpleQueue[_Ended] = queue.SimpleQueue()
        self._pace = Pace()
        threading.Thread(target=self._work, name="results", daemon=True).start()

    def put(
        self, request: GenerationRequest, fingerprint: str, make_fields: Callable[[], Fields | None], took_s: float = 0.0
    ) -> "Future[None]":
        """Return at once; the future ends when the result is on its stream, or when `make_fields` says that there is none.

        `took_s`: how long the call was under way here; results of calls that take a while share a round trip.
        """
        self._pace.count(took_s)
        ended = _Ended(request, fingerprint, make_fields)
        self._queue.put(ended)
        return ended.settled

    def _work(self) -> None:
        while True:
            batch = [self._queue.get()]
            patience_s = self._pace.patience_s(0.0, GATHER_AT_MOST_S)
            if self._pace.answers_in(patience_s) > 1:
                time.sleep(patience_s)
            with suppress(queue.Empty):
                while len(batch) < MOST_AT_ONCE:
                    batch.append(self._queue.get_nowait())
            entries = [(ended, fields) for ended in batch if (fields := _fields_of(ended)) is not None]
            if entries:
                self._put(entries)
            for ended in batch:
                try:
                    self._on_settled(ended.request)
                except Exception:
                    logger.exception("after the result of %s", ended.request.call_id, extra=about(ended.request))
                ended.settled.set_result(None)

    def _put(self, entries: list[_Entry]) -> None:
        for _ in entries:
            crash_point("before_result")
        try:
            self._put_for_ever(entries)
        except Exception:
            logger.exception("%d results cannot be written together; each goes alone", len(entries))
            for entry in entries:
                self._put_alone(entry)
        for ended, fields in entries:
            if "final" in fields:
                logger.info("answered %s", ended.request.call_id, extra=about(ended.request))
            elif "returned" in fields:
                logger.info("gave back %s", ended.request.call_id, extra=about(ended.request))
            else:
                told = {**about(ended.request), "error": fields["error"]}
                logger.warning("failed %s: %s", ended.request.call_id, fields["message"], extra=told)
            crash_point("after_result")

    def _put_alone(self, entry: _Entry) -> None:
        try:
            self._put_for_ever([entry])
        except Exception as error:
            self._put_for_ever([(entry[0], _failure(error))])

    def _put_for_ever(self, entries: list[_Entry]) -> None:
        """Try until Redis takes them. Raises what is no fault of Redis: fields that cannot be encoded."""
        pause = 0.1
        while True:
            try:
                self._put_now(entries)
                return
            except (RedisError, OSError) as error:
                logger.warning("%d results wait for Redis: %s", len(entries), error)
                time.sleep(pause)
                pause = min(3.0, pause * 2)

    def _put_now(self, entries: list[_Entry]) -> None:
        pipeline = self._redis.pipeline(transaction=True)
        for ended, fields in entries:
            request = ended.request
            entry: dict[Any, Any] = {"key": request.key, "fp": ended.fingerprint, "attempt": str(request.attempt), **fields}
            pipeline.xadd(results_key(request.run), entry)
            if "final" in fields:
                pipeline.set(finished_key(request.run, ended.fingerprint), "1", ex=HOUR_S)
        for run in {ended.request.run for ended, _ in entries}:
            pipeline.expire(results_key(run), RESULTS_KEPT_S)
        pipeline.execute()
