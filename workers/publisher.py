"""Publishes the text of calls on the token stream of their run, and stores the text so far for late readers.

The host collects deltas for 30 ms. Those of all calls go in one pipeline, because a round trip per call would take too much of
the processor from the engine. Text that Redis did not acknowledge is sent again with the next flush: on the stream from the
same offset, which readers accept twice, and in the buffer as the whole text.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import redis.asyncio

from apps.processes.streams import HOUR_S, TOKENS_KEPT, async_client, buffer_key, tokens_key
from apps.reasoning.domain.generation import Delta, GenerationRequest

Channel = Literal["text", "reasoning"]
CHANNELS: tuple[Channel, ...] = ("text", "reasoning")


@dataclass
class _Written:
    """Text of a call on one channel, in pieces: appending to one long string at every flush would copy all of it."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    sent_pieces: int = 0
    sent: int = 0

    def add(self, text: str) -> None:
        if text:
            self.pieces.append(text)
            self.length += len(text)


@dataclass
class _Call:
    """One call's text so far, and how much of it Redis has. Of a dirty call, Redis may have more than `sent` says."""

    request: GenerationRequest
    tokens: int = 0
    written: dict[Channel, _Written] = field(default_factory=lambda: {"text": _Written(), "reasoning": _Written()})
    is_dirty: bool = False


class TokenPublisher:
    """One per worker process, on the engine loop; the `HostSink` of its host."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}
        self._touched: set[str] = set()
        self._over: set[str] = set()
        self._redis: redis.asyncio.Redis | None = None

    def add(self, request: GenerationRequest, delta: Delta, *, text_at: int, reasoning_at: int) -> None:
        """Take a delta of a running call."""
        call = self._calls.get(request.call_id)
        if call is None:
            call = self._calls[request.call_id] = _Call(request)
        call.tokens += delta.tokens
        call.written["text"].add(_encodable(delta.text))
        call.written["reasoning"].add(_encodable(delta.reasoning))
        self._touched.add(request.call_id)

    def finish(self, request: GenerationRequest) -> None:
        """Forget a call once its last piece is sent."""
        self._over.add(request.call_id)

    async def send(self) -> None:
        """Publish the added text of all calls in one round trip.

        Raises `RedisError` and `OSError`. After an error or a cancellation, the next `send` publishes what is missing.
        """
        touched, self._touched = self._touched, set()
        over, self._over = self._over, set()
        try:
            if touched:
                await self._put([self._calls[name] for name in touched])
        except BaseException:
            self._touched |= touched
            self._over |= over
            raise
        for name in over:
            self._calls.pop(name, None)

    async def _put(self, calls: list[_Call]) -> None:
        if self._redis is None:
            self._redis = async_client()
        pipeline = self._redis.pipeline(transaction=False)
        for call in calls:
            _queue(pipeline, call)
        for run in {call.request.run for call in calls}:
            pipeline.expire(tokens_key(run), HOUR_S)
        queued = [(written, len(written.pieces), written.length) for call in calls for written in call.written.values()]
        for call in calls:
            call.is_dirty = True
        await pipeline.execute()
        for call in calls:
            call.is_dirty = False
        for written, pieces, length in queued:
            written.sent_pieces, written.sent = pieces, length


def _encodable(text: str) -> str:
    """Replace unpaired surrogates, which an HTTP server may send: one would block the text of all calls for ever."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _queue(pipeline: "redis.asyncio.client.Pipeline", call: _Call) -> None:
    """Append the new text of one call to its run's stream and to its buffer."""
    request = call.request
    for channel in CHANNELS:
        written = call.written[channel]
        new, start = "".join(written.pieces[written.sent_pieces :]), written.sent
        if not new:
            continue
        fields: dict[Any, Any] = {
            "call": request.key,
            "attempt": request.attempt,
            "ch": channel,
            "off": start,
            "text": new,
            "n": call.tokens,
        }
        pipeline.xadd(tokens_key(request.run), fields, maxlen=TOKENS_KEPT, approximate=True)
        key = buffer_key(request.run, request.key, request.attempt, channel)
        if call.is_dirty or start == 0:  # An earlier owner may have left the beginning of the same attempt.
            pipeline.set(key, "".join(written.pieces), ex=HOUR_S)
        else:
            pipeline.append(key, new)
