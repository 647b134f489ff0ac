"""Text that Redis does not accept in time is written to the stream and the buffer at a later tick."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from redis.exceptions import RedisError

from apps.processes.streams import buffer_key, tokens_key
from apps.reasoning.domain.generation import Delta
from tests.inference.conftest import a_request
from workers.publisher import TokenPublisher

REQUEST = a_request()


@pytest_asyncio.fixture
async def publisher(valkey: Any) -> AsyncIterator[TokenPublisher]:
    publisher = TokenPublisher()
    yield publisher
    if publisher._redis is not None:
        await publisher._redis.aclose()


def _add(publisher: TokenPublisher, text: str = "", reasoning: str = "") -> None:
    publisher.add(REQUEST, Delta(text=text, reasoning=reasoning, tokens=1), text_at=0, reasoning_at=0)


def _buffers(valkey: Any) -> tuple[str | None, str | None]:
    text, reasoning = (buffer_key("run", "call", REQUEST.attempt, channel) for channel in ("text", "reasoning"))
    return valkey.get(text), valkey.get(reasoning)


def _streamed(valkey: Any, channel: str) -> str:
    """The text of a reader who puts every piece at its offset; a gap fails the test."""
    text = ""
    for _, fields in valkey.xrange(tokens_key("run")):
        if fields["ch"] == channel:
            at = int(fields["off"])
            assert at <= len(text), "a piece is missing"
            text = text[:at] + fields["text"]
    return text


async def _send_to_a_redis_that_stalls(publisher: TokenPublisher, valkey: Any) -> None:
    valkey.client_pause(400)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await publisher.send()
    await asyncio.sleep(0.5)


async def test_pieces_of_a_failed_tick_are_sent_with_the_next_one(publisher: TokenPublisher, valkey: Any) -> None:
    _add(publisher, text="One ", reasoning="I ")
    await publisher.send()
    _add(publisher, text="two ", reasoning="think")
    await _send_to_a_redis_that_stalls(publisher, valkey)
    _add(publisher, text="three")
    await publisher.send()
    assert _buffers(valkey) == ("One two three", "I think")
    assert _streamed(valkey, "text") == "One two three"
    assert _streamed(valkey, "reasoning") == "I think"


async def test_a_call_that_ends_during_a_failed_tick_is_written_completely(publisher: TokenPublisher, valkey: Any) -> None:
    _add(publisher, text="One ")
    await publisher.send()
    _add(publisher, text="two")
    publisher.finish(REQUEST)
    await _send_to_a_redis_that_stalls(publisher, valkey)
    await publisher.send()
    assert _buffers(valkey)[0] == _streamed(valkey, "text") == "One two"
    assert not publisher._calls, "a call that is completely written is forgotten"


async def test_text_that_redis_accepted_before_it_failed_is_in_the_buffer_once(
    publisher: TokenPublisher, valkey: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(publisher, text="One ")
    await publisher.send()
    _add(publisher, text="two ")
    assert publisher._redis is not None
    pipeline = publisher._redis.pipeline(transaction=False)
    put = pipeline.execute

    async def fail_afterwards() -> None:
        await put()
        raise RedisError("The connection is lost.")

    monkeypatch.setattr(pipeline, "execute", fail_afterwards)
    with monkeypatch.context() as patched:
        patched.setattr(publisher._redis, "pipeline", lambda **_: pipeline)
        with pytest.raises(RedisError):
            await publisher.send()
    _add(publisher, text="three")
    await publisher.send()
    assert _buffers(valkey)[0] == _streamed(valkey, "text") == "One two three"


async def test_half_a_character_does_not_hold_back_other_text(publisher: TokenPublisher, valkey: Any) -> None:
    _add(publisher, text="\ud835 = 𝐱")
    await publisher.send()
    assert _buffers(valkey)[0] == _streamed(valkey, "text") == "? = 𝐱"


async def test_an_attempt_restarted_by_another_process_does_not_continue_the_text_of_the_first(
    publisher: TokenPublisher, valkey: Any
) -> None:
    """Worker and orchestrator were both restarted, so attempts are counted from one again."""
    valkey.set(buffer_key("run", "call", REQUEST.attempt, "text"), "What the dead wor")
    _add(publisher, text="One ")
    await publisher.send()
    _add(publisher, text="two")
    await publisher.send()
    assert _buffers(valkey)[0] == "One two"
    assert 0 < valkey.ttl(buffer_key("run", "call", REQUEST.attempt, "text")) <= 3600
