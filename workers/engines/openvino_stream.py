"""A call of the OpenVINO backend on the worker's side."""

import asyncio
import time

from apps.reasoning.domain.errors import BackendError
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest
from apps.reasoning.inference.reasoning_tags import TagSplitter


class Stream:
    """One call on the worker's side. `items` ends with a `Final` or an error."""

    __slots__ = (
        "began",
        "cancelled",
        "first_at",
        "is_read",
        "items",
        "number",
        "prompt",
        "reasoning",
        "request",
        "splitter",
        "text",
        "thought",
    )

    def __init__(self, number: int, request: GenerationRequest, tags: tuple[str, str] | None) -> None:
        self.number = number
        self.request = request
        self.items: asyncio.Queue[Delta | Final | BackendError] = asyncio.Queue()
        self.began = time.monotonic()
        self.first_at: float | None = None
        self.prompt = 0
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.thought = 0
        self.splitter = TagSplitter(tags) if tags else None
        self.cancelled = False
        self.is_read = True

    def push(self, text: str, tokens: int) -> None:
        """Pass a piece on. Its tokens count as reasoning if it begins inside the tags."""
        if self.splitter is None:
            self._keep(Delta(text=text, tokens=tokens))
            return
        self.thought += tokens if self.splitter.inside else 0
        pieces = self.splitter.push(text)
        self._keep(Delta(text=pieces.text, reasoning=pieces.reasoning, tokens=tokens))

    def close(self) -> None:
        if self.splitter is not None and any(pieces := self.splitter.close()):
            self._keep(Delta(text=pieces.text, reasoning=pieces.reasoning))

    def _keep(self, delta: Delta) -> None:
        self.text.append(delta.text)
        self.reasoning.append(delta.reasoning)
        self.items.put_nowait(delta)
