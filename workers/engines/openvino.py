"""The OpenVINO backend: starts the engine process (openvino_child.py), sends it calls and returns their streams.

The first call starts the engine, so an installation that never uses this model does not load it.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from apps.reasoning.domain.errors import BackendError, BackendUnavailable, DeadlineExceeded, EngineLost, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health, Usage
from apps.reasoning.inference.abilities import reject_what_is_missing
from apps.reasoning.inference.aliases import Alias, OpenVinoOptions
from apps.reasoning.inference.meter import RateMeter
from workers.engines.model_files import model_path
from workers.engines.openvino_stream import Stream
from workers.engines.openvino_wire import add_message
from workers.readers import Readers
from workers.slots import spare_places

log = logging.getLogger(__name__)

_ROOT = Path(__file__).resolve().parents[2]
_LINE_LIMIT = 64 * 1024 * 1024


class OpenVinoBackend:
    """A `Backend` over one engine process. Use it from one event loop."""

    def __init__(self, alias: Alias, readers: Readers | None = None) -> None:
        if not isinstance(alias.options, OpenVinoOptions):
            raise TypeError(f"{alias.name} is not an alias of the backend openvino")
        self._alias = alias
        self._options = alias.options
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._starting: asyncio.Task[asyncio.subprocess.Process] | None = None
        self._streams: dict[int, Stream] = {}
        self._readers = readers or Readers()
        self._readers.on_change(self._readers_changed)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._numbers = 0
        self._meter = RateMeter()
        self._problem = ""

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`."""
        reject_what_is_missing(request, "openvino", tools=True)
        self._loop = asyncio.get_running_loop()
        self._numbers += 1
        stream = self._streams[self._numbers] = Stream(self._numbers, request, self._alias.reasoning_tags)
        try:
            process = await self._engine()
            if stream.cancelled:
                yield self._final(stream, "cancelled", 0)
                return
            stream.is_read = self._readers.reads(request.run)
            self._send(process, add_message(stream.number, request) | {"read": stream.is_read})
            while True:
                item = await self._next(stream)
                if isinstance(item, BackendError):
                    raise item
                yield item
                if isinstance(item, Final):
                    return
        finally:
            if self._streams.pop(stream.number, None) is not None and self._process is not None:
                self._send(self._process, {"cancel": stream.number})

    async def _next(self, stream: Stream) -> Delta | Final | BackendError:
        if not stream.items.empty():
            return stream.items.get_nowait()
        left = stream.began + stream.request.deadline_s - time.monotonic()
        try:
            async with asyncio.timeout(max(left, 0.0)):
                return await stream.items.get()
        except TimeoutError:
            raise DeadlineExceeded(f"The call took longer than {stream.request.deadline_s:g} s and was stopped.") from None

    async def abort(self, call_id: str) -> None:
        for stream in self._streams.values():
            if stream.request.call_id == call_id:
                stream.cancelled = True
                if self._process is not None:
                    self._send(self._process, {"cancel": stream.number})

    async def health(self) -> Health:
        running = len(self._streams)
        if self._process is not None:
            limit = self._alias.concurrency + spare_places(self._alias.concurrency)
            detail = f"OpenVINO on {self._options.device}, up to {self._alias.concurrency} calls in one batch."
            return Health(
                state="ready",
                detail=detail,
                running=min(running, limit),
                waiting=max(0, running - limit),
                tokens_per_s=self._meter.rate,
            )
        if self._starting is not None and not self._starting.done():
            return Health(state="loading", detail="The model is being loaded.", waiting=running)
        if self._problem:
            return Health(state="down", detail=self._problem)
        return Health(state="unloaded", detail="Loaded by the first call.")

    async def close(self) -> None:
        """Stop the engine process; calls in it end with `EngineLost`."""
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            with contextlib.suppress(asyncio.CancelledError, BackendError):
                await self._starting
        process, self._process = self._process, None
        if process is not None:
            await _stop(process)
        if self._reader is not None:
            await self._reader

    # --- the engine process ------------------------------------------------------------------------------------------

    async def _engine(self) -> asyncio.subprocess.Process:
        if self._process is not None:
            return self._process
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start(), name=f"start {self._alias.name}")
        return await asyncio.shield(self._starting)

    async def _start(self) -> asyncio.subprocess.Process:
        try:
            path = await asyncio.to_thread(model_path, self._alias.model)
            process = await _spawned(self._engine_options(path))
            try:
                await self._wait_until_loaded(process)
            except BaseException:
                await _stop(process)
                raise
        except BackendError as error:
            self._problem = str(error)
            raise
        self._problem = ""
        self._process = process
        self._reader = asyncio.create_task(self._read(process), name=f"read {self._alias.name}")
        return process

    def _engine_options(self, path: Path) -> dict[str, Any]:
        return self._options.model_dump() | {
            "path": str(path),
            "concurrency": self._alias.concurrency + spare_places(self._alias.concurrency),
            "context_tokens": self._alias.context_tokens,
        }

    async def _wait_until_loaded(self, process: asyncio.subprocess.Process) -> None:
        """Wait until the model is loaded. Raises `BackendUnavailable` with the engine's own reason."""
        assert process.stdout is not None
        line = await process.stdout.readline()
        if not line:
            code = await process.wait()
            raise BackendUnavailable(
                f"The engine process of {self._alias.name} ended while loading the model (exit code {code}). See the log."
            )
        hello = json.loads(line)
        if "failed" in hello:
            raise BackendUnavailable(hello["failed"])
        log.info("%s is loaded (OpenVINO GenAI %s)", self._alias.name, hello["ready"])

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            self._take(json.loads(line))
        code = await process.wait()
        if self._process is process:
            self._process = None
            self._problem = f"The engine process of {self._alias.name} died (exit code {code}); the next call restarts it."
            log.error(self._problem)
        for stream in self._streams.values():
            stream.items.put_nowait(EngineLost(f"The engine died while it generated (exit code {code})."))

    def _take(self, news: dict[str, dict[str, Any]]) -> None:
        streams = self._streams
        for number, size in news.get("n", {}).items():
            if (stream := streams.get(int(number))) is not None:
                stream.prompt = size
        now = time.monotonic()
        for number, (text, tokens) in news.get("d", {}).items():
            self._meter.add(tokens)
            if (stream := streams.get(int(number))) is not None:
                stream.first_at = stream.first_at or now
                stream.push(text, tokens)
        for number, (reason, completion) in news.get("f", {}).items():
            if (stream := streams.pop(int(number), None)) is not None:
                stream.close()
                stream.items.put_nowait(self._final(stream, reason, completion))
        for number, (_, sentence) in news.get("e", {}).items():
            if (stream := streams.pop(int(number), None)) is not None:
                stream.items.put_nowait(RequestRejected(sentence))

    def _final(self, stream: Stream, reason: Any, completion: int) -> Final:
        return Final(
            text="".join(stream.text),
            reasoning="".join(stream.reasoning),
            finish_reason=reason,
            usage=Usage(prompt=stream.prompt, completion=completion, reasoning=min(stream.thought, completion)),
            ttft_s=stream.first_at - stream.began if stream.first_at is not None else None,
            duration_s=time.monotonic() - stream.began,
            model_revision=self._alias.revision,
        )

    def _readers_changed(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._send_readers)

    def _send_readers(self) -> None:
        changed = [stream for stream in self._streams.values() if stream.is_read != self._readers.reads(stream.request.run)]
        for stream in changed:
            stream.is_read = not stream.is_read
        if changed and self._process is not None:
            self._send(self._process, {"readers": {stream.number: stream.is_read for stream in changed}})

    def _send(self, process: asyncio.subprocess.Process, message: dict[str, Any]) -> None:
        if process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(json.dumps(message).encode() + b"\n")


async def _spawned(options: dict[str, Any]) -> asyncio.subprocess.Process:
    """Start the engine process in its own session, so that Ctrl-C in a terminal reaches the worker only."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "workers.engines.openvino_child",
        json.dumps(options),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=_ROOT,
        env=os.environ | {"OPENVINO_TELEMETRY_OPT_OUT": "1"},
        limit=_LINE_LIMIT,
        start_new_session=True,
    )


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End the process: it exits when its input closes. Kill it if a step hangs."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(3.0):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
