"""The inference process: `celery -A workers.worker worker -P threads -c N -Q inference.<alias>,…`.

Task threads only wait; the engines live on one background loop (host.py). Needs Redis, no database. Results are put on the
run's result stream, for ever if need be; a heartbeat tells twice a second what is being worked on, so that the orchestrator
knows what was lost when this process dies.
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
from apps.reasoning.domain.errors import BackendError
from apps.reasoning.domain.generation import Final, GenerationRequest, Health
from apps.reasoning.inference.aliases import Alias, load_aliases, load_served
from apps.reasoning.ports import Backend
from apps.runs import garbage, metrics
from apps.runs.logs import about
from apps.runs.streams import ActiveCall, Heartbeat, cancel_key, finished_key, heartbeat_tell, sync_client, watch_key
from apps.runs.told_errors import fields_of_error
from workers.counting import count_end
from workers.host import EngineHost
from workers.publisher import TokenPublisher
from workers.results import ResultOutbox

umask_set()
django.setup()
# The broker keeps no account of deliveries: what is neither queued nor in a heartbeat is sent again by its orchestrator.
app.conf.task_queues = [Queue(alias.queue, no_ack=True) for alias in load_served(settings.MODELS_FILE).values()]

from apps.runs.crash import crash_point  # noqa: E402  (reads settings)
from apps.runs.tasks import answer_calls_with  # noqa: E402

logger = logging.getLogger(__name__)
BEAT_S = 0.5
HELD_TO_PLACES = 1.5
BEAT_LIVES_MS = 3000
HEALTH_PATIENCE_S = 0.05

Call = tuple[GenerationRequest, str]
"""A request and its fingerprint."""


def aliases_of(queues: Collection[str]) -> dict[str, Alias]:
    """The aliases of models.toml whose calls come through these queues, in the file's order."""
    return {name: alias for name, alias in load_served(settings.MODELS_FILE).items() if alias.queue in queues}


class Worker:
    """Answers calls of `aliases` (all of models.toml where it is None) with the engines of this process.

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
        self._enough = _enough(self.aliases.values())
        self._health: dict[str, dict[str, Any]] = {}
        self._asked: Future[dict[str, Health]] | None = None
        self._held: Counter[str] = Counter()
        self._messages: Counter[str] = Counter()
        self._active: dict[str, tuple[GenerationRequest, str]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._heart = threading.Thread(target=self._beat_for_ever, name="heartbeat", daemon=True)
        self._heart.start()

    def answer(self, calls: Sequence[Call]) -> None:
        """Generate and put the results on their streams, but for calls that have one or that nobody wants any more."""
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

        A restarted orchestrator sends calls again whose first message is still queued. Claim before the check for a result:
        in the other order, a result of the first message that is written in between is missed, and the call is generated twice.
        """
        with self._lock:
            new = [call for call in calls if call[0].call_id not in self._active]
            self._active.update({call[0].call_id: call for call in new})
            self._held.update(self._queue_of(request) for request, _ in new)
        return new

    def _begin(self, request: GenerationRequest, fingerprint: str) -> "Future[None]":
        """Start one call; the future ends when its result is on the stream, or when it shall have none."""
        crash_point("before_generation")
        logger.info("began %s", request.call_id, extra=about(request))
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
        """The fields of the result entry; None for a call that was cancelled and has none."""
        try:
            count_end(request, generated)
        except Exception:
            logger.exception("%s could not be counted", request.call_id, extra=about(request))
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
                self._less(self._held, self._queue_of(request))

    def crowded_queues(self) -> set[str]:
        """Queues of which this process holds enough: what its engine generates, and half as much again to choose from."""
        return {queue for queue in self._enough if self._is_crowded(queue)}

    def message_came(self, request: Any = None, **_: Any) -> None:
        """A message counts from its reading on: its thread may take a while to look into it."""
        with self._lock:
            self._messages[request.delivery_info["routing_key"]] += 1

    def message_left(self, task: Any = None, **_: Any) -> None:
        """All calls of a message are answered, or it had none that anybody wants."""
        with self._lock:
            self._less(self._messages, task.request.delivery_info["routing_key"])

    def _is_crowded(self, queue: str) -> bool:
        return max(self._held[queue], self._messages[queue]) >= self._enough.get(queue, math.inf)

    def _less(self, counter: Counter[str], queue: str) -> None:
        was_crowded = self._is_crowded(queue)
        counter[queue] -= 1
        if was_crowded and not self._is_crowded(queue):
            broker.room_came()

    def _queue_of(self, request: GenerationRequest) -> str:
        alias = self.aliases.get(request.alias)
        return alias.queue if alias else request.alias

    def _are_settled(self, calls: Sequence[Call]) -> Sequence[bool]:
        """Whether each call has a result or its run was cancelled; false for all while Redis does not answer."""
        try:
            pipeline = self.redis.pipeline(transaction=False)
            for request, fingerprint in calls:
                pipeline.exists(finished_key(request.run, fingerprint), cancel_key(request.run))
            return [bool(found) for found in pipeline.execute()]
        except (RedisError, OSError):
            return [False] * len(calls)

    def drain(self) -> None:
        """Let calls finish for a while, then stop the rest and give them back: another worker takes them."""
        self.is_draining = True
        logger.info("told to stop: %d calls may end within %g s", len(self.host.active()), settings.DRAIN_S)
        logger.info("%d calls were stopped and go back", self.host.drain(settings.DRAIN_S))

    def close(self) -> None:
        """End the heartbeat and the engines; a worker's process does not need it, a test does."""
        self._closed.set()
        self._heart.join(timeout=10)
        self.host.close()

    # --- heartbeat ---------------------------------------------------------------------------------------------------

    def _beat_for_ever(self) -> None:
        while not self._closed.is_set():
            try:
                self._beat()
            except (RedisError, OSError) as error:
                logger.debug("heartbeat: %s", error)
            except Exception:
                logger.exception("heartbeat")
            self._closed.wait(BEAT_S)

    def _beat(self) -> None:
        with self._lock:
            active: list[ActiveCall] = [
                {"run": request.run, "key": request.key, "attempt": request.attempt, "fingerprint": fingerprint}
                for request, fingerprint in self._active.values()
            ]
        aliases, health = sorted(self.aliases), self._last_health()
        beat: Heartbeat = {"worker": self.name, "aliases": aliases, "active": active, "health": health}
        heartbeat_tell(self.redis, beat, BEAT_LIVES_MS)
        runs = sorted({str(call["run"]) for call in active})
        flags = self.redis.mget([key(run) for key in (cancel_key, watch_key) for run in runs]) if runs else []
        watched = zip(runs, flags[len(runs) :], strict=True)
        self.host.readers.tell(frozenset(run for run, is_watched in watched if is_watched))
        for run, is_cancelled in zip(runs, flags[: len(runs)], strict=True):
            if is_cancelled:
                self.host.cancel_run(run)
        metrics.push(self.redis)

    def _last_health(self) -> dict[str, dict[str, Any]]:
        """What the engines said last. None is waited for: all calls of a process whose heartbeat is late count as lost."""
        self._asked = asked = self._asked or self.host.ask_health()
        concurrent.futures.wait([asked], timeout=HEALTH_PATIENCE_S)
        if asked.done():
            self._asked = None
            self._health = {name: state.model_dump(mode="json") for name, state in asked.result().items()}
        return self._health


def _enough(aliases: Iterable[Alias]) -> dict[str, float]:
    """How many calls of each queue crowd it."""
    found: dict[str, float] = {}
    for alias in aliases:
        found[alias.queue] = min(found.get(alias.queue, math.inf), HELD_TO_PLACES * alias.concurrency)
    return found


def _without_nul(final: Final) -> Final:
    """PostgreSQL keeps no NUL character in a text, and a model may write one."""
    if "\x00" not in final.text and "\x00" not in final.reasoning:
        return final
    return final.model_copy(update={"text": final.text.replace("\x00", "�"), "reasoning": final.reasoning.replace("\x00", "�")})


_worker: Worker | None = None


def serve(worker: Worker) -> None:
    """Let `worker` answer the calls that come to this process."""
    global _worker
    _worker = worker
    broker.Channel.crowded = worker.crowded_queues
    task_received.connect(worker.message_came)
    task_postrun.connect(worker.message_left)
    answer_calls_with(worker.answer)
    garbage.set_aside()


@worker_init.connect
def start(**_: Any) -> None:
    """Sent before the consumer starts, in the process that also runs the threads; nothing forks after it."""
    serve(Worker(aliases=aliases_of(app.amqp.queues.consume_from)))


@worker_shutting_down.connect
def _drain(**_: Any) -> None:
    if _worker is not None:
        threading.Thread(target=_worker.drain, daemon=True).start()


__all__ = ["app"]
