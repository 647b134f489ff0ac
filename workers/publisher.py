"""Puts what calls write on the token stream of their run, and keeps their text so far for late readers.

The host collects deltas for 50 ms; what all calls have to say then goes in one pipeline: a round trip per call would cost more
than the engine leaves over. A tick that Redis does not take is lost for the stream; the buffered text is then written
whole with the next one, so that a reader who asks for it misses nothing.
"""

import logging
from dataclasses import dataclass, field
from typing import Any, Literal

import redis.asyncio
from redis.exceptions import RedisError

from apps.reasoning.domain.generation import Delta, GenerationRequest
from apps.runs.crash import crash_point
from apps.runs.streams import HOUR_S, TOKENS_KEPT, async_client, buffer_key, tokens_key

logger = logging.getLogger(__name__)

Channel = Literal["text", "reasoning"]


@dataclass
class _Call:
    """One call's text so far, and how much of it is on the stream."""

    request: GenerationRequest
    tokens: int = 0
    written: dict[Channel, str] = field(default_factory=lambda: {"text": "", "reasoning": ""})
    sent: dict[Channel, int] = field(default_factory=lambda: {"text": 0, "reasoning": 0})
    is_dirty: bool = False


class TokenPublisher:
    """One per worker process, on the engine loop; the `HostSink` of its host. Never raises."""

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
        call.written["text"] += delta.text
        call.written["reasoning"] += delta.reasoning
        self._touched.add(request.call_id)

    def finish(self, request: GenerationRequest) -> None:
        """Forget a call once what is left of it is sent."""
        self._over.add(request.call_id)

    async def send(self) -> None:
        """Put what was added on the streams, for all calls in one round trip."""
        touched, self._touched = self._touched, set()
        over, self._over = self._over, set()
        calls = [self._calls[name] for name in touched]
        for name in over:
            self._calls.pop(name, None)
        if not calls:
            return
        if self._redis is None:
            self._redis = async_client()
        crash_point("mid_generation")
        pipeline = self._redis.pipeline(transaction=False)
        for call in calls:
            _put(pipeline, call)
        for run in {call.request.run for call in calls}:
            pipeline.expire(tokens_key(run), HOUR_S)
        try:
            await pipeline.execute()
        except (RedisError, OSError) as error:
            logger.debug("token stream: %s", error)
            for call in calls:
                call.is_dirty = True


def _put(pipeline: "redis.asyncio.client.Pipeline", call: _Call) -> None:
    """Append what is new of one call to its run's stream and to its buffer."""
    request = call.request
    for channel in ("text", "reasoning"):
        whole, start = call.written[channel], call.sent[channel]
        if len(whole) == start:
            continue
        new = whole[start:]
        call.sent[channel] = len(whole)
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
        if call.is_dirty:
            pipeline.set(key, whole, ex=HOUR_S)
        else:
            pipeline.append(key, new)
            if start == 0:
                pipeline.expire(key, HOUR_S)
    call.is_dirty = False
