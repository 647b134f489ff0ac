"""Sends the calls of one run to the inference workers and receives their results, despite dying processes.

A call is sent as a Celery message to the queue of its alias; its result comes back on the stream `res:<run>`, where it stays
until the journal has it. The reaper resends calls that no worker holds. Results that arrived while the run had no owner are
read from the stream at the start.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import TracebackType
from typing import Self

import redis.asyncio
from django.conf import settings
from pydantic import ValidationError
from redis.exceptions import RedisError

from apps.processes import metrics
from apps.processes.logs import about
from apps.processes.streams import async_client, fingerprint_of, finished_key, oldest_message, results_key, sync_client
from apps.reasoning.domain import errors
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.runs.calls import surroundings
from apps.runs.calls.early import EarlyResults
from apps.runs.calls.errors import error_of_fields
from apps.runs.calls.sending import CallSender
from apps.runs.calls.waiting import Waiting

logger = logging.getLogger(__name__)

_LOSSES_BEFORE_GIVING_UP = 5
_REAP_EVERY_S = 1.0
_DELETE_EVERY_S = 0.5
#: Longest wait for results: while some are to be deleted, and otherwise.
_DELETED_WITHIN_S, _READ_S = 1.0, 5.0
#: After a longer gap between two scans, the broker was unavailable or the loop was busy, so the scan proves nothing.
_BLIND_S = 3.0
#: A worker lists a message only in the heartbeat after reading it.
_MISSED_S = 1.5
#: A run waits for a model without limit, but for a tool without workers only this long.
_TOOL_IS_AWAITED_S = 60.0
#: Shorter for formula checks, which the scaffold does not need, while a user waits for the run to end.
_CHECK_IS_AWAITED_S = 15.0
UNREADABLE = "A result could not be read: its worker runs another version of Lemmascope. Bring all to one, then resume the run."


class CeleryDispatcher:
    """The `Dispatcher` port over Celery and Redis, for one run. Use as an async context manager, in the run's event loop."""

    def __init__(self, run: str, *, queues: Mapping[str, str], is_recorded: Callable[[str], bool]) -> None:
        self._run = run
        self._queues = queues
        self._is_recorded = is_recorded
        self._sender = CallSender(queues)
        self._waiting: dict[str, Waiting] = {}
        self._to_delete: dict[str, str] = {}
        self._early = EarlyResults(self._to_delete)
        self._running: set[tuple[str, str]] = set()
        self._last_id = "0-0"
        self._deleted_at = 0.0
        self._looked_at = time.monotonic()
        self._tasks: list[asyncio.Task[None]] = []
        self._redis: redis.asyncio.Redis

    async def __aenter__(self) -> Self:
        self._redis = async_client()
        await self._look_around()
        self._tasks = [asyncio.create_task(self._read_results()), asyncio.create_task(self._reap())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sender.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await self._delete_recorded()
        except (RedisError, OSError):
            logger.debug("results of %s are deleted by its next owner", self._run)
        await self._redis.aclose()

    async def dispatch(self, request: GenerationRequest) -> Final:
        """Send the call and wait for its result. Raises the `BackendError` of the worker.

        Raises `BackendRefused` for an alias without a queue, and for a tool that has had no worker for a while.
        """
        if request.alias not in self._queues:
            raise errors.BackendRefused(f"Nothing serves {request.alias}: it is off in the settings, or not in models.toml.")
        fingerprint = fingerprint_of(request)
        waiting = Waiting(request, fingerprint, asyncio.get_running_loop().create_future())
        self._waiting[request.key] = waiting
        metrics.move("calls_outstanding", 1)
        try:
            if early := self._early.take(request.key, fingerprint):
                self._deliver(*early)
            elif (request.key, fingerprint) in self._running:
                waiting.sent_at = waiting.seen_active_at = time.monotonic()
            else:
                await self._send(waiting)
            return await waiting.result
        except errors.BackendError as error:
            error.attempt = waiting.attempt
            raise
        finally:
            metrics.move("calls_outstanding", -1)
            self._waiting.pop(request.key, None)

    async def _send(self, waiting: Waiting) -> None:
        waiting.sent_at = 0.0
        await self._sender.send(waiting.request.model_copy(update={"attempt": waiting.attempt}), waiting.fingerprint)
        waiting.sent_at = time.monotonic()
        waiting.seen_active_at = waiting.missed_at = None

    # --- results ---------------------------------------------------------------------------------------------------

    async def _look_around(self) -> None:
        """Before the first dispatch, read results on the stream and calls that workers still hold."""
        while True:
            try:
                for entry_id, fields in await self._redis.xrange(results_key(self._run)):
                    self._last_id = entry_id
                    self._take(entry_id, fields)
                self._running.update((await surroundings.look(fresh=True)).calls_of(self._run))
                return
            except (RedisError, OSError) as error:
                logger.warning("run %s: waiting for Redis: %s", self._run, error)
                await asyncio.sleep(0.5)

    async def _read_results(self) -> None:
        while True:
            try:
                block_s = _DELETED_WITHIN_S if self._to_delete or self._early.entries() else _READ_S
                answer = await self._redis.xread({results_key(self._run): self._last_id}, count=500, block=int(1000 * block_s))
                for _, entries in answer:
                    for entry_id, fields in entries:
                        self._last_id = entry_id
                        self._take(entry_id, fields)
                if time.monotonic() - self._deleted_at > _DELETE_EVERY_S:
                    await self._delete_recorded()
                if (
                    wait_s := self._sender.read_wait_s
                ):  # Results read together are recorded together, and their new calls are sent together.
                    await asyncio.sleep(wait_s)
            except (RedisError, OSError) as error:
                logger.warning("results of run %s: %s, trying again", self._run, error)
                await asyncio.sleep(0.3)
            except Exception:  # One bad result must not block the others.
                logger.exception("results of run %s", self._run)

    def _take(self, entry_id: str, fields: dict[str, str]) -> None:
        # A cancelled call takes no result: it belongs to the next owner, who would otherwise ask again.
        key = fields["key"]
        waiting = self._waiting.get(key)
        if waiting is not None and waiting.fingerprint == fields["fp"] and not waiting.result.cancelled():
            self._deliver(entry_id, fields)
        elif self._is_recorded(key) or "returned" in fields:
            self._to_delete[entry_id] = key if "returned" not in fields else ""
        else:
            self._early.keep(entry_id, fields)

    def _deliver(self, entry_id: str, fields: dict[str, str]) -> None:
        waiting = self._waiting[fields["key"]]
        is_overtaken = "final" not in fields and int(fields["attempt"]) < waiting.attempt  # A newer attempt may still succeed.
        if waiting.result.done() or is_overtaken:
            self._to_delete[entry_id] = ""
        elif "returned" in fields:
            self._to_delete[entry_id] = ""
            waiting.is_returned = True
        elif "final" in fields:
            self._to_delete[entry_id] = fields["key"]
            try:  # A worker of a newer version may send unknown fields.
                final = Final.model_validate_json(fields["final"], extra="ignore")
            except ValidationError as error:
                logger.warning("run %s: the result of %s cannot be read: %s", self._run, waiting.request.key, error)
                self._to_delete[entry_id] = ""
                waiting.result.set_exception(errors.BackendRefused(UNREADABLE))
                return
            self._sender.answered(waiting.request.alias, final.duration_s)
            if waiting.sent_at:
                waited = time.monotonic() - waiting.sent_at - final.duration_s
                metrics.observe("call_wait_seconds", max(0.0, waited), waiting.request.alias)
            waiting.result.set_result(final)
        else:
            self._to_delete[entry_id] = ""
            waiting.result.set_exception(error_of_fields(fields))

    async def _delete_recorded(self) -> None:
        """Delete results that the journal has committed."""
        for key, entry in self._early.entries():
            if self._is_recorded(key):  # It arrived again between its delivery and its commit.
                self._to_delete[entry] = key
                self._early.forget(key)
        ready = [entry for entry, key in self._to_delete.items() if not key or self._is_recorded(key)]
        self._deleted_at = time.monotonic()
        if ready:
            await self._redis.xdel(results_key(self._run), *ready)
            for entry in ready:
                del self._to_delete[entry]

    # --- the reaper --------------------------------------------------------------------------------------------------

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(_REAP_EVERY_S)
            try:
                await self._reap_once()
            except (RedisError, OSError) as error:
                logger.debug("reaper: %s", error)
            except Exception:
                logger.exception("reaper of run %s", self._run)

    async def _reap_once(self) -> None:
        """Resend calls that were given back, started but in no heartbeat, or sent but neither queued nor started.

        A queue is read in order: a message older than its next one has left it.
        """
        seen = await surroundings.look()
        broker_now, now, active = seen.broker_at, seen.at, seen.calls_of(self._run)
        self._give_up_tools(seen.aliases, now)
        if now - self._looked_at > _BLIND_S:  # Without scans, workers could not be seen.
            for waiting in self._waiting.values():
                waiting.seen_active_at = waiting.seen_active_at and now
        self._looked_at = now
        next_sent_at: dict[tuple[str, int], float | None] = {}
        lost: list[Waiting] = []
        for waiting in list(self._waiting.values()):
            if waiting.result.done() or not waiting.sent_at:
                continue
            if waiting.is_returned:
                lost.append(waiting)
            elif (waiting.request.key, waiting.fingerprint) in active:
                waiting.seen_active_at = now
            elif waiting.seen_active_at is not None:
                if now - waiting.seen_active_at > settings.REDISPATCH_GRACE_S:
                    lost.append(waiting)
            elif now - waiting.sent_at > settings.REDISPATCH_GRACE_S:
                place = (self._queues[waiting.request.alias], waiting.request.priority)
                if place not in next_sent_at:
                    next_sent_at[place] = await surroundings.asked(partial(oldest_message, sync_client(), *place))
                oldest = next_sent_at[place]
                sent = broker_now - (now - waiting.sent_at)
                if oldest is not None and oldest <= sent + settings.REDISPATCH_GRACE_S:
                    waiting.missed_at = None
                elif waiting.missed_at is None:
                    waiting.missed_at = now
                elif now - waiting.missed_at > _MISSED_S:
                    lost.append(waiting)
        await asyncio.gather(*map(self._lost, lost))  # Together, because each send waits for others to share its message.

    def _give_up_tools(self, served: Collection[str], now: float) -> None:
        for waiting in self._waiting.values():
            request = waiting.request
            if request.job == "generate" or waiting.result.done() or not waiting.sent_at:
                continue
            patience_s = _CHECK_IS_AWAITED_S if request.job == "check_math" else _TOOL_IS_AWAITED_S
            if request.alias in served:
                waiting.served_at = now
            elif now - max(waiting.sent_at, waiting.served_at) > patience_s:
                what_to_do = f"`make up` starts one, or `python -m workers.serve {request.alias}`."
                waiting.result.set_exception(errors.BackendRefused(f"No worker serves {request.alias}; {what_to_do}"))

    async def _lost(self, waiting: Waiting) -> None:
        if waiting.result.done():
            return
        if waiting.is_returned:
            waiting.returns, waiting.is_returned = waiting.returns + 1, False
            await self._send(waiting)
            return
        waiting.losses += 1
        if waiting.losses > _LOSSES_BEFORE_GIVING_UP:
            waiting.result.set_exception(errors.EngineLost(f"The engine was lost {waiting.losses} times during this call."))
            return
        metrics.count("calls_redispatched", waiting.request.alias)
        lost = {**about(waiting.request), "attempt": waiting.attempt}
        logger.warning("run %s: call %s was lost, attempt %d", self._run, waiting.request.key, waiting.attempt, extra=lost)
        if waiting.losses > 1:
            # A worker drops a call that was answered before. Clear the mark: a power failure may have lost the answer.
            await self._redis.delete(finished_key(self._run, waiting.fingerprint))
        await self._send(waiting)
