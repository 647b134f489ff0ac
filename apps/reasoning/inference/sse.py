"""Server-sent events: the data of each event from the lines of a response (WHATWG HTML, "Interpreting an event stream")."""

from collections.abc import AsyncIterable, AsyncIterator


async def event_data(lines: AsyncIterable[str]) -> AsyncIterator[str]:
    """The data of every event, several `data:` lines joined by a newline; comments and other fields are passed over.

    Data that the last empty line does not end is given all the same: some servers close the connection without one.
    """
    data: list[str] = []
    async for raw in lines:
        line = raw.rstrip("\r\n").removeprefix("\ufeff")
        if not line:
            if data:
                yield "\n".join(data)
                data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
    if data:
        yield "\n".join(data)
