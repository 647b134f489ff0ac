"""What the host of the engines keeps of a call under way, and where it tells what calls write."""

import asyncio
import concurrent.futures
import time
from typing import Any, Literal, Protocol

from apps.reasoning.domain.generation import Delta, Final, GenerationRequest
from apps.reasoning.domain.values import Value
from apps.reasoning.ports import Backend
from workers.readers import UNREAD_S


class HostSink(Protocol):
    """Where the host puts what calls write, in its loop: at each tick one piece of every call that wrote, then `send`."""

    def add(self, request: GenerationRequest, delta: Delta, *, text_at: int, reasoning_at: int) -> None:
        """Take the next piece of a call, at once; the offsets say where in each channel its characters begin."""

    def finish(self, request: GenerationRequest) -> None:
        """Take note that there is no more of a call of which `add` was told something."""

    async def send(self) -> None:
        """Pass on what was added. Where it raises or is cancelled it is called again at the next tick, added to or not."""


class HostOptions(Value):
    """See `EngineHost`. `flush_s` lies between two deltas of a call, `unwatched_s` where nobody has its run open; after a pause
    `gather_s` is waited for the other calls of an engine's step. `stuck_s` without a turn of the loop ends the process
    (workers/watchdog.py).
    """

    flush_s: float = 0.03
    gather_s: float = 0.005
    unwatched_s: float = UNREAD_S
    stuck_s: float = 30.0
    abort_patience_s: float = 1.0
    sink_patience_s: float = 1.0
    health_patience_s: float = 1.5


class RunningCall:
    """A call under way, with what it wrote since the last flush. Touched in the loop only, but for `future`."""

    def __init__(self, request: GenerationRequest) -> None:
        self.request = request
        self.future: concurrent.futures.Future[Final] = concurrent.futures.Future()
        self.task: asyncio.Task[Any] | None = None
        self.backend: Backend | None = None
        self.stop: Literal["", "abort", "drain"] = ""
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.tokens = 0
        self.text_at = 0
        self.reasoning_at = 0
        self.told_at = time.monotonic()
        self.is_streamed = False
        self.is_over = False

    def take(self) -> tuple[int, int, Delta]:
        """The unsent piece and where it begins; it counts as sent from now on."""
        delta = Delta(text="".join(self.text), reasoning="".join(self.reasoning), tokens=self.tokens)
        start = (self.text_at, self.reasoning_at)
        self.is_streamed = True
        self.told_at = time.monotonic()
        self.text_at += len(delta.text)
        self.reasoning_at += len(delta.reasoning)
        self.text.clear()
        self.reasoning.clear()
        self.tokens = 0
        return (*start, delta)
