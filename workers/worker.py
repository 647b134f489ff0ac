"""The inference process: `celery -A workers.worker worker -P threads -c N -Q inference.<alias>,…`.

Task threads only wait; the engines run on one background loop (host.py). Needs Redis, no database. The worker publishes results
on the run's result stream and retries until Redis accepts them. Twice a second a heartbeat lists the running calls, so that the
orchestrator knows which were lost when this process dies.
"""

import concurrent.futures
import functools
import logging
import math
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from typing import Any

import django
from celery.signals import task_postrun, task_received, worker_init, worker_shutting_down
from django.conf import settings
from kombu import Queue
from redis.exceptions import RedisError

from apps.config import broker
from apps.config.celery import app
from apps.config.private import umask_set
from apps.processes import garbage, metrics
from apps.processes.logs import about
from apps.processes.streams import ActiveCall, Heartbeat, cancel_key, finished_key, heartbeat_publish, sync_client, watch_key
from apps.reasoning.domain.errors import BackendError
from apps.reasoning.domain.generation import Final, GenerationRequest, Health
from apps.reasoning.inference.aliases import Alias, load_aliases, load_served
from apps.reasoning.ports import Backend
from apps.runs.calls.errors import fields_of_error
from workers.counting import count_end
from workers.host import EngineHost
from workers.publisher import TokenPublisher
from workers.results import ResultOutbox

umask_set()
django.setup()
# The broker does not track deliveries: the orchestrator resends a call that is neither queued nor in a heartbeat.
app.conf.task_queues = [Queue(alias.queue, no_ack=True) for alias in load_served(settings.MODELS_FILE).values()]

from apps.processes.crash import crash_point  # noqa: E402  (reads settings)
from apps.runs.tasks import answer_calls_with  # noqa: E402

logger = logging.getLogger(__name__)
BEAT_S = 0.5
HELD_PER_PLACE = 1.5
BEAT_TTL_MS = 3000
HEALTH_PATIENCE_S = 0.05

Call = tuple[GenerationRequest, str]
"""A request and its fingerprint."""


def aliases_of(queues: Collection[str]) -> dict[str, Alias]:
    """The aliases of models.toml that these queues serve, in the file's order."""
    return {name: alias for name, alias in load_served(settings.MODELS_FILE).items() if alias.queue in queues}


class Worker:
    """Answers calls of `aliases` (None: all of models.toml) with the engines of this process.

    `make_backend` replaces the engines, for benchmarks.
    """

    def __init__(self, make_backend: Callable[[Alias], Backend] | None = None, aliases: dict[str, Alias] | None = None) -> None:
        self.name = f"{socket.gethostname()}/{os.getpid()}"
        self.redis = sync_client()
        self.publisher = TokenPublisher()
        self.aliases = load_aliases(settings.MODELS_FILE) if aliases is None else aliases
        speed = {"worked-example": settings.WORKED_EXAMPLE_TOKENS_PER_S}
        self.host = EngineHost(self.aliases, sink=self.publisher, tokens_per_s_override=speed, make_backend=make_backend)
        self.outbox = ResultOutbox(self.redis, self._forget)
        self.is_draining = False
        self._limits = _limits(self.aliases.values())
        self._health: dict[str, dict[str, Any]] = {}
        self._asked: Future[dict[str, Health]] | None = None
        self._held: Counter[str] = Counter()
        self._messages: Counter[str] = Counter()
        self._active: dict[str, tuple[GenerationRequest, str]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._heart = threading.Thread(target=self._beat_forever, name="heartbeat", daemon=True)
        self._heart.start()

    def answer(self, calls: Sequence[Call]) -> None:
        """Generate and publish the results. Skip calls that have a result or whose run was cancelled."""
        claimed = self._claim(calls)
        try:
            are_settled = self._are_settled(claimed)
        except BaseException:
            for request, _ in claimed:
                self._forget(request)
            raise
        begun: list[Future[None]] = []
        for (request, fingerprint), is_settled in zip(claimed, are_settled, strict=True):
            if is_settled:
                self._forget(request)
            else:
                begun.append(self._begin(request, fingerprint))
        concurrent.futures.wait(begun)

    def _claim(self, calls: Sequence[Call]) -> Sequence[Call]:
        """Claim the calls that no other message of this process holds, until their results are written.

        A restarted orchestrator resends calls whose first message is still queued. Claim before the check for a result: in the
        other order, a result that the first message writes in between is missed, and the call is generated twice.
        """
        with self._lock:
            new = [call for call in calls if call[0].call_id not in self._active]
            self._active.update({call[0].call_id: call for call in new})
            self._held.update(self._queue_of(request) for request, _ in new)
        return new

    def _begin(self, request: GenerationRequest, fingerprint: str) -> "Future[None]":
        """Start one call. The future ends when its result is published, or when the call was cancelled."""
        crash_point("before_generation")
        logger.info("started %s", request.call_id, extra=about(request))
        metrics.count("calls_began", request.alias)
        settled: Future[None] = Future()
        began = time.monotonic()

        def hand_over(generated: "Future[Final]") -> None:
            fields = functools.partial(self._fields, request, generated)
            put = self.outbox.put(request, fingerprint, fields, time.monotonic() - began)
            put.add_done_callback(lambda _: settled.set_result(None))

        self.host.start(request).add_done_callback(hand_over)
        return settled

    def _fields(self, request: GenerationRequest, generated: "Future[Final]") -> dict[str, str] | None:
        """The fields of the result entry; None for a cancelled call."""
        try:
            count_end(request, generated)
        except Exception:
            logger.exception("could not count %s in the metrics", request.call_id, extra=about(request))
        try:
            final = generated.result()
        except BackendError as error:
            if self.is_draining:
                return {"returned": "1"}  # The orchestrator sends the call to another worker.
            return fields_of_error(error)
        except Exception as error:
            logger.exception("call %s failed inside the worker", request.call_id, extra=about(request))
            return {"error": "EngineLost", "message": f"The worker failed on this call ({type(error).__name__}: {error})."}
        if final.finish_reason == "cancelled":
            return None
        return {
            "final": _without_nul(final).model_copy(update={"worker": self.name, "attempt": request.attempt}).model_dump_json()
        }

    def _forget(self, request: GenerationRequest) -> None:
        with self._lock:
            if self._active.pop(request.call_id, None):
                self._decrement(self._held, self._queue_of(request))

    def crowded_queues(self) -> set[str]:
        """Queues of which this process holds enough calls: 1.5 for each place of the engine, to choose from."""
        return {queue for queue in self._limits if self._is_crowded(queue)}

    def message_received(self, request: Any = None, **_: Any) -> None:
        """Count a message when it is received: its thread may start on it much later."""
        with self._lock:
            self._messages[request.delivery_info["routing_key"]] += 1

    def message_done(self, task: Any = None, **_: Any) -> None:
        """Stop counting a message: its calls are answered or skipped."""
        with self._lock:
            self._decrement(self._messages, task.request.delivery_info["routing_key"])

    def _is_crowded(self, queue: str) -> bool:
        return max(self._held[queue], self._messages[queue]) >= self._limits.get(queue, math.inf)

    def _decrement(self, counter: Counter[str], queue: str) -> None:
        was_crowded = self._is_crowded(queue)
        counter[queue] -= 1
        if was_crowded and not self._is_crowded(queue):
            broker.room_freed()

    def _queue_of(self, request: GenerationRequest) -> str:
        alias = self.aliases.get(request.alias)
        return alias.queue if alias else request.alias

    def _are_settled(self, calls: Sequence[Call]) -> Sequence[bool]:
        """Whether each call has a result or its run was cancelled; False for all while Redis does not answer."""
        try:
            pipeline = self.redis.pipeline(transaction=False)
            for request, fingerprint in calls:
                pipeline.exists(finished_key(request.run, fingerprint), cancel_key(request.run))
            return [bool(found) for found in pipeline.execute()]
        except (RedisError, OSError):
            return [False] * len(calls)

    def drain(self) -> None:
        """Let calls finish within DRAIN_S, then stop the rest and return them to another worker."""
        self.is_draining = True
        logger.info("stopping: %d calls may finish within %g s", len(self.host.active()), settings.DRAIN_S)
        logger.info("stopped %d calls; other workers take them", self.host.drain(settings.DRAIN_S))

    def close(self) -> None:
        """End the heartbeat and the engines, for tests."""
        self._closed.set()
        self._heart.join(timeout=10)
        self.host.close()

    # --- heartbeat ---------------------------------------------------------------------------------------------------

    def _beat_forever(self) -> None:
        while not self._closed.is_set():
            try:
                self._beat()
            except (RedisError, OSError) as error:
                logger.debug("could not send the heartbeat: %s", error)
            except Exception:
                logger.exception("could not send the heartbeat")
            self._closed.wait(BEAT_S)

    def _beat(self) -> None:
        with self._lock:
            active: list[ActiveCall] = [
                {"run": request.run, "key": request.key, "attempt": request.attempt, "fingerprint": fingerprint}
                for request, fingerprint in self._active.values()
            ]
        aliases, health = sorted(self.aliases), self._last_health()
        beat: Heartbeat = {"worker": self.name, "aliases": aliases, "active": active, "health": health}
        heartbeat_publish(self.redis, beat, BEAT_TTL_MS)
        runs = sorted({str(call["run"]) for call in active})
        flags = self.redis.mget([key(run) for key in (cancel_key, watch_key) for run in runs]) if runs else []
        watched = zip(runs, flags[len(runs) :], strict=True)
        self.host.readers.update(frozenset(run for run, is_watched in watched if is_watched))
        for run, is_cancelled in zip(runs, flags[: len(runs)], strict=True):
            if is_cancelled:
                self.host.cancel_run(run)
        metrics.push(self.redis)

    def _last_health(self) -> dict[str, dict[str, Any]]:
        """The last known health of the engines. It waits for no engine: a late heartbeat makes all calls count as lost."""
        self._asked = asked = self._asked or self.host.ask_health()
        concurrent.futures.wait([asked], timeout=HEALTH_PATIENCE_S)
        if asked.done():
            self._asked = None
            self._health = {name: state.model_dump(mode="json") for name, state in asked.result().items()}
        return self._health


def _limits(aliases: Iterable[Alias]) -> dict[str, float]:
    """The number of calls from which each queue is crowded."""
    found: dict[str, float] = {}
    for alias in aliases:
        found[alias.queue] = min(found.get(alias.queue, math.inf), HELD_PER_PLACE * alias.concurrency)
    return found


def _without_nul(final: Final) -> Final:
    """Replace NUL characters, which a model may write and PostgreSQL cannot store in a text."""
    if "\x00" not in final.text and "\x00" not in final.reasoning:
        return final
    return final.model_copy(update={"text": final.text.replace("\x00", "�"), "reasoning": final.reasoning.replace("\x00", "�")})


_worker: Worker | None = None


def serve(worker: Worker) -> None:
    """Connect `worker` to the calls that this process receives."""
    global _worker
    _worker = worker
    broker.Channel.crowded = worker.crowded_queues
    task_received.connect(worker.message_received)
    task_postrun.connect(worker.message_done)
    answer_calls_with(worker.answer)
    garbage.set_aside()


@worker_init.connect
def start(**_: Any) -> None:
    """Start the worker before Celery's consumer, in the process that also runs the threads; nothing forks after it."""
    serve(Worker(aliases=aliases_of(app.amqp.queues.consume_from)))


@worker_shutting_down.connect
def _drain(**_: Any) -> None:
    if _worker is not None:
        threading.Thread(target=_worker.drain, daemon=True).start()


__all__ = ["app"]
