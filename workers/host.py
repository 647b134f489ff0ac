"""The host of the backends in an inference process: one event loop in its own thread, called from many task threads.

It knows no broker. The worker gives it a sink for streamed text and calls `run` from a task thread for each call.
"""

import asyncio
import concurrent.futures
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Literal

from apps.processes.crash import crash_point
from apps.processes.logs import about, bind
from apps.processes.loops import new_event_loop
from apps.reasoning.domain.errors import BackendRefused, EngineLost
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.streaming import read_to_final
from apps.reasoning.ports import Backend
from workers.backends import backend_for
from workers.health import Checkup
from workers.readers import Readers
from workers.running import HostOptions, HostSink, RunningCall
from workers.slots import FairSlots
from workers.watchdog import LoopWatchdog

log = logging.getLogger(__name__)


class EngineHost:
    """Runs calls on the backends of `aliases`.

    `sink` receives, in the host's loop, the new text of all calls: at once after a pause, otherwise every `flush_s`. Text of
    unwatched runs (by `readers`) is sent every `unwatched_s`. The sink should return soon. Its errors are logged and delay no
    result. It receives all pieces of a call before `run` returns; a call that ends before its first piece is not streamed.
    `tokens_per_s_override` sets the speed of scripted aliases by name. `make_backend` replaces the backends, for tests.
    """

    def __init__(
        self,
        aliases: Mapping[str, Alias],
        *,
        sink: HostSink | None = None,
        tokens_per_s_override: Mapping[str, float] | None = None,
        options: HostOptions | None = None,
        make_backend: Callable[[Alias], Backend] | None = None,
    ) -> None:
        speeds = dict(tokens_per_s_override or {})
        self.readers = Readers()
        self._make_backend = make_backend or (lambda alias: backend_for(alias, speeds.get(alias.name), self.readers))
        self._aliases = {name: alias for name, alias in aliases.items() if alias.enabled}
        self._sink = sink
        self._options = options or HostOptions()
        self._backends: dict[str, Backend] = {}
        self._slots = {
            alias.engine: FairSlots(alias.concurrency, tokens=alias.tokens_in_flight) for alias in self._aliases.values()
        }
        self._checkup = Checkup(self._health_of, self._options.health_patience_s)
        self._calls: dict[str, RunningCall] = {}
        self._touched: dict[str, RunningCall] = {}
        self._flushed: asyncio.Future[None] | None = None
        self._wrote = asyncio.Event()
        self._lock = threading.Lock()
        self._stopping = False
        self._sink_is_behind = False
        self._sink_complained_at = float("-inf")
        # A sandbox starts its children as another user, which uvloop cannot do.
        has_tools = any(alias.is_tool for alias in self._aliases.values())
        self._loop = asyncio.new_event_loop() if has_tools else new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="engine-loop", daemon=True)
        self._thread.start()
        self._watchdog = LoopWatchdog(self._loop, stuck_s=self._options.stuck_s)

    # --- for task threads --------------------------------------------------------------------------------------------

    def run(self, request: GenerationRequest) -> Final:
        """Generate, and wait for the result. Callers with the same call id share one generation and its result.

        An aborted call returns a `Final` with `finish_reason="cancelled"` and the text so far. Raises `BackendError`;
        `EngineLost` while the host is stopping, so that another worker takes the call.
        """
        return self.start(request).result()

    def start(self, request: GenerationRequest) -> "concurrent.futures.Future[Final]":
        """Like `run`, without waiting: the future holds the result or the error."""
        with self._lock:
            call = self._calls.get(request.call_id)
            if call is None:
                call = RunningCall(request)
                if self._stopping:
                    call.future.set_exception(EngineLost("The worker is stopping; the call goes to another one."))
                    return call.future
                self._calls[request.call_id] = call
                asyncio.run_coroutine_threadsafe(self._drive(call), self._loop)
        return call.future

    def abort(self, call_id: str) -> bool:
        """Stop one call; False if this host does not run it. Returns at once."""
        with self._lock:
            call = self._calls.get(call_id)
        if call is not None:
            asyncio.run_coroutine_threadsafe(self._stop(call, "abort"), self._loop)
        return call is not None

    def cancel_run(self, run: str) -> int:
        """Stop all calls of a run; returns their number."""
        with self._lock:
            calls = [call for call in self._calls.values() if call.request.run == run]
        for call in calls:
            asyncio.run_coroutine_threadsafe(self._stop(call, "abort"), self._loop)
        return len(calls)

    def active(self) -> list[str]:
        """The ids of the calls whose result is still awaited."""
        with self._lock:
            return list(self._calls)

    def health(self, timeout_s: float = 2.0) -> dict[str, Health]:
        """The health of every enabled alias. Raises `TimeoutError` when the loop does not answer."""
        return self.ask_health().result(timeout_s)

    def ask_health(self) -> "concurrent.futures.Future[dict[str, Health]]":
        """Like `health`, without waiting. An adapter reports the health of its engine."""
        return asyncio.run_coroutine_threadsafe(self._health(), self._loop)

    def drain(self, seconds: float) -> int:
        """Take no new calls, wait for the running ones, stop the rest with `EngineLost`. Returns the number stopped."""
        with self._lock:
            self._stopping = True
        until = time.monotonic() + seconds
        while self.active() and time.monotonic() < until:
            time.sleep(0.05)
        with self._lock:
            rest = list(self._calls.values())
        for call in rest:
            asyncio.run_coroutine_threadsafe(self._stop(call, "drain"), self._loop)
        concurrent.futures.wait([call.future for call in rest], timeout=self._options.abort_patience_s + 2.0)
        return len(rest)

    def close(self) -> None:
        """Stop everything: calls, engines, the loop."""
        self.drain(0.0)
        self._watchdog.stop()
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._close_backends(), self._loop).result(10.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5.0)

    # --- in the loop -------------------------------------------------------------------------------------------------

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        flusher = self._loop.create_task(self._flush_forever())
        try:
            self._loop.run_forever()
            rest = {flusher, *asyncio.all_tasks(self._loop)}
            for task in rest:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    async def _drive(self, call: RunningCall) -> None:
        """Run a call and settle its future, whatever happens."""
        bind(**about(call.request))
        call.task = asyncio.current_task()
        final: Final | None = None
        error: Exception | None = None
        try:
            try:
                final = await self._generated(call)
            except asyncio.CancelledError:
                final = Final(text="", finish_reason="cancelled")
            except Exception as raised:
                error = raised
            if call.is_streamed:
                await self._flush_last_piece(call)
        finally:
            self._settle(call, final, error)

    def _settle(self, call: RunningCall, final: Final | None, error: Exception | None) -> None:
        with self._lock:
            self._calls.pop(call.request.call_id, None)
        if not call.is_streamed:
            self._touched.pop(call.request.call_id, None)
        if call.stop == "drain" and (final is None or final.finish_reason == "cancelled"):
            error = EngineLost("The worker stopped before the call ended; it goes to another one.")
        if error is not None:
            call.future.set_exception(error)
        else:
            call.future.set_result(final or Final(text="", finish_reason="cancelled"))

    async def _generated(self, call: RunningCall) -> Final:
        request = call.request
        alias = self._aliases.get(request.alias)
        if alias is None:
            raise BackendRefused(f"This worker serves no alias {request.alias}; it serves {', '.join(sorted(self._aliases))}.")

        def push(delta: Delta) -> None:
            crash_point("mid_generation")
            call.text.append(delta.text)
            call.reasoning.append(delta.reasoning)
            call.tokens += delta.tokens
            self._touched[request.call_id] = call
            self._wrote.set()

        async with self._slots[alias.engine].place(request):
            call.backend = self._backend(alias)
            return await read_to_final(call.backend, request, push if self._sink else None)

    async def _stop(self, call: RunningCall, why: Literal["abort", "drain"]) -> None:
        """Ask the backend to abort; cancel our own task if the backend has no such call or does not react."""
        if call.future.done() or call.task is None:
            return
        call.stop = call.stop or why
        if call.backend is not None:
            asked = asyncio.ensure_future(call.backend.abort(call.request.call_id))
            asked.add_done_callback(lambda task: task.cancelled() or task.exception())
            await asyncio.wait([call.task], timeout=self._options.abort_patience_s)
        if not call.task.done():
            call.task.cancel()

    def _backend(self, alias: Alias) -> Backend:
        if alias.engine not in self._backends:
            self._backends[alias.engine] = self._make_backend(self._aliases[alias.engine])
        return self._backends[alias.engine]

    async def _health(self) -> dict[str, Health]:
        found = await self._checkup.of(alias.engine for alias in self._aliases.values())
        return {name: found[alias.engine] for name, alias in self._aliases.items()}

    async def _health_of(self, engine: str) -> Health:
        health = await self._backend(self._aliases[engine]).health()
        return health.model_copy(update={"waiting": health.waiting + self._slots[engine].waiting})

    async def _close_backends(self) -> None:
        await asyncio.gather(*(backend.close() for backend in self._backends.values()), return_exceptions=True)

    # --- streams -----------------------------------------------------------------------------------------------------

    async def _flush_forever(self) -> None:
        """Flush all calls in one task: a timer or a Redis round trip for each call would cost more than it sends."""
        while self._sink is not None:
            if not (self._touched or self._sink_is_behind):
                self._wrote.clear()
                await self._wrote.wait()
                await asyncio.sleep(self._options.gather_s)  # A step of an engine writes for all its calls.
            await self._flush(self._sink)
            await asyncio.sleep(self._options.flush_s)

    async def _flush(self, sink: HostSink) -> None:
        touched, self._touched = self._due()
        flushed, self._flushed = self._flushed, None
        try:
            for call in touched.values():
                text_at, reasoning_at, delta = call.take()
                if delta.text or delta.reasoning or delta.tokens:
                    sink.add(call.request, delta, text_at=text_at, reasoning_at=reasoning_at)
                if call.is_over:
                    sink.finish(call.request)
            async with asyncio.timeout(self._options.sink_patience_s):
                await sink.send()
            self._sink_is_behind = False
        except Exception as error:
            self._sink_is_behind = True
            self._complain(error)
        finally:
            if flushed is not None:
                flushed.set_result(None)

    def _due(self) -> tuple[dict[str, RunningCall], dict[str, RunningCall]]:
        """The calls to flush now, and those of unwatched runs, which can wait. An ended call is flushed at once."""
        before = time.monotonic() - self._options.unwatched_s
        due: dict[str, RunningCall] = {}
        rest: dict[str, RunningCall] = {}
        for name, call in self._touched.items():
            is_due = call.is_over or self.readers.reads(call.request.run) or call.sent_at <= before
            (due if is_due else rest)[name] = call
        return due, rest

    async def _flush_last_piece(self, call: RunningCall) -> None:
        """Wait for the flush of the call's last piece. Its place at the engine is free already."""
        call.is_over = True
        self._touched[call.request.call_id] = call
        self._wrote.set()
        if self._flushed is None:
            self._flushed = self._loop.create_future()
        await asyncio.shield(self._flushed)

    def _complain(self, error: Exception) -> None:
        now = time.monotonic()
        if now - self._sink_complained_at > 60.0:
            self._sink_complained_at = now
            log.warning("could not publish streamed text, will retry; results are safe: %s: %s", type(error).__name__, error)
