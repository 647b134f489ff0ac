"""Server-sent events in the forms that servers actually send."""

from collections.abc import AsyncIterator

from apps.reasoning.inference.sse import event_data


async def _lines(text: str) -> AsyncIterator[str]:
    for line in text.split("\n"):
        yield line


async def _data(text: str) -> list[str]:
    return [data async for data in event_data(_lines(text))]


async def test_events_are_separated_by_empty_lines() -> None:
    assert await _data("data: a\n\ndata:b\n\n") == ["a", "b"]


async def test_several_data_lines_are_one_event() -> None:
    assert await _data("data: {\ndata: }\n\n") == ["{\n}"]


async def test_comments_other_fields_and_carriage_returns_are_ignored() -> None:
    assert await _data(": keep-alive\n\nevent: message\r\nid: 7\r\nretry: 10\r\ndata: a\r\n\r\n") == ["a"]


async def test_the_last_event_may_lack_its_empty_line() -> None:
    assert await _data("\ufeffdata: a\n\ndata: b") == ["a", "b"]


async def test_one_space_after_the_colon_belongs_to_the_field() -> None:
    assert await _data("data:  a\n\ndata:\n\n") == [" a", ""]
