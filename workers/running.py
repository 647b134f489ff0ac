"""State of a running call in the host of the engines, and the sink that receives the text of calls."""

import asyncio
import concurrent.futures
import time
from typing import Any, Literal, Protocol

from apps.reasoning.domain.generation import Delta, Final, GenerationRequest
from apps.reasoning.domain.values import Value
from apps.reasoning.ports import Backend
from workers.readers import UNWATCHED_S


class HostSink(Protocol):
    """Receives the text of calls in the host's loop: at each flush one piece of every call with new text, then `send`."""

    def add(self, request: GenerationRequest, delta: Delta, *, text_at: int, reasoning_at: int) -> None:
        """Take the next piece of a call, without waiting; the offsets are its first characters in each channel."""

    def finish(self, request: GenerationRequest) -> None:
        """Mark a call that `add` has received as complete."""

    async def send(self) -> None:
        """Pass on the added pieces. After an error or a cancellation it is called again at the next flush."""


class HostOptions(Value):
    """Times of an `EngineHost`, in seconds.

    `flush_s`: between two deltas of a call; `unwatched_s`: the same for an unwatched run. `gather_s`: wait after a pause for
    the other calls of an engine's step. `stuck_s`: a loop that does not turn for this long ends the process
    (workers/watchdog.py).
    """

    flush_s: float = 0.03
    gather_s: float = 0.005
    unwatched_s: float = UNWATCHED_S
    stuck_s: float = 30.0
    abort_patience_s: float = 1.0
    sink_patience_s: float = 1.0
    health_patience_s: float = 1.5


class RunningCall:
    """A running call with its text since the last flush. Only the loop touches it, except for `future`."""

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
        self.sent_at = time.monotonic()
        self.is_streamed = False
        self.is_over = False

    def take(self) -> tuple[int, int, Delta]:
        """The unsent piece with its offsets (text, reasoning). Marks it as sent."""
        delta = Delta(text="".join(self.text), reasoning="".join(self.reasoning), tokens=self.tokens)
        start = (self.text_at, self.reasoning_at)
        self.is_streamed = True
        self.sent_at = time.monotonic()
        self.text_at += len(delta.text)
        self.reasoning_at += len(delta.reasoning)
        self.text.clear()
        self.reasoning.clear()
        self.tokens = 0
        return (*start, delta)
