"""Publishes results on the streams of their runs: one thread, all ready results in one round trip, retried until accepted."""

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

from apps.processes.crash import crash_point
from apps.processes.logs import about
from apps.processes.pace import Pace
from apps.processes.streams import HOUR_S, finished_key, results_key
from apps.reasoning.domain.generation import GenerationRequest

logger = logging.getLogger(__name__)
RESULTS_KEPT_S = 7 * 24 * HOUR_S
MOST_AT_ONCE = 256
#: The longest that a result waits for others when results come fast.
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
    """The entry of a result. An error here fails its call, not the thread that all calls share."""
    try:
        return ended.make_fields()
    except Exception as error:
        logger.exception("could not encode the result of %s", ended.request.call_id, extra=about(ended.request))
        return _failure(error)


def _failure(error: Exception) -> Fields:
    """The entry for a call that failed inside the worker; the orchestrator sends the call again."""
    message = f"The worker failed on this call ({type(error).__name__}: {error})."
    return {"error": "EngineLost", "message": message.encode(errors="replace").decode()}


class ResultOutbox:
    """Queue of results to publish through `client`. Calls `on_settled` with each request that is done."""

    def __init__(self, client: Any, on_settled: Callable[[GenerationRequest], None]) -> None:
        self._redis = client
        self._on_settled = on_settled
        self._queue: queue.SimpleQueue[_Ended] = queue.SimpleQueue()
        self._pace = Pace()
        threading.Thread(target=self._work, name="results", daemon=True).start()

    def put(
        self, request: GenerationRequest, fingerprint: str, make_fields: Callable[[], Fields | None], took_s: float = 0.0
    ) -> "Future[None]":
        """Enqueue a result. The future ends when the result is on its stream, or when `make_fields` returns None.

        `took_s`: the call's duration in this process; results of longer calls share a round trip.
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
                    logger.exception("could not release %s after its result", ended.request.call_id, extra=about(ended.request))
                ended.settled.set_result(None)

    def _put(self, entries: list[_Entry]) -> None:
        for _ in entries:
            crash_point("before_result")
        try:
            self._put_until_taken(entries)
        except Exception:
            logger.exception("could not publish %d results together; publishing each alone", len(entries))
            for entry in entries:
                self._put_alone(entry)
        for ended, fields in entries:
            if "final" in fields:
                logger.info("answered %s", ended.request.call_id, extra=about(ended.request))
            elif "returned" in fields:
                logger.info("gave back %s", ended.request.call_id, extra=about(ended.request))
            else:
                extra = {**about(ended.request), "error": fields["error"]}
                logger.warning("failed %s: %s", ended.request.call_id, fields["message"], extra=extra)
            crash_point("after_result")

    def _put_alone(self, entry: _Entry) -> None:
        try:
            self._put_until_taken([entry])
        except Exception as error:
            self._put_until_taken([(entry[0], _failure(error))])

    def _put_until_taken(self, entries: list[_Entry]) -> None:
        """Retry until Redis accepts the entries. Raises other errors, such as fields that cannot be encoded."""
        pause = 0.1
        while True:
            try:
                self._put_now(entries)
                return
            except (RedisError, OSError) as error:
                logger.warning("%d results are waiting for Redis: %s", len(entries), error)
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
