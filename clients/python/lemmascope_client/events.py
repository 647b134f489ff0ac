"""Events of a run: the server's stream, read across reconnections."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from time import monotonic, sleep
from typing import Any

import httpx

from lemmascope_client.errors import Disconnected, error_of, retry_after
from lemmascope_client.transport import LONGEST_WAIT_S, Transport, backoff_s, unreachable

#: Seconds of silence after which a stream is given up: the server sends a comment every 15 s.
SILENCE_S = 40.0


@dataclass(frozen=True)
class Event:
    """A recorded fact of a run. `seq` counts from 1 without gaps; docs/story.md explains kinds and bodies."""

    seq: int
    key: str
    kind: str
    at: datetime
    body: dict[str, Any]


def event_of(row: dict[str, Any]) -> Event:
    """The event of a row of the API."""
    return Event(row["seq"], row["key"], row["kind"], datetime.fromisoformat(row["at"]), row["body"])


def events_followed(transport: Transport, run: str, after: int, patience_s: float) -> Iterator[Event]:
    """The events after a number until the run has ended, each once and in order.

    Reconnects where the connection breaks. Raises `Disconnected` if it cannot for `patience_s` seconds, and other
    `LemmascopeError`s if the server refuses.
    """
    tried = 0
    alone_since: float | None = monotonic()
    while True:
        wait_s = 0.0
        try:
            with transport.http.stream(
                "GET",
                f"runs/{run}/stream",
                headers={"Last-Event-ID": str(after)},
                timeout=httpx.Timeout(transport.http.timeout.connect, read=SILENCE_S),
            ) as answer:
                if answer.status_code in (429, 503):
                    wait_s, reason = retry_after(answer), "the server is busy"
                elif answer.is_error:
                    answer.read()
                    raise error_of(answer)
                else:
                    reason, tried, alone_since = "the stream was interrupted", 0, None
                    for event in _frames(answer):
                        if event is None:
                            return
                        after = event.seq
                        yield event
                    alone_since = monotonic()
        except httpx.TransportError as error:
            alone_since = monotonic() if alone_since is None else alone_since
            if monotonic() - alone_since > patience_s:
                raise unreachable(transport.http, error) from error
        else:
            if alone_since is not None and monotonic() - alone_since > patience_s:
                raise Disconnected(f"The events of the run cannot be followed: {reason}. Try again later.")
        tried += 1
        sleep(min(wait_s or backoff_s(tried), LONGEST_WAIT_S))


def _frames(answer: httpx.Response) -> Iterator[Event | None]:
    """The events of a stream; None at the end of the run."""
    fields: dict[str, str] = {}
    for line in _lines(answer):
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            if fields.get("event") == "end":
                yield None
                return
            yield event_of(json.loads(fields["data"]))
            fields = {}


def _lines(answer: httpx.Response) -> Iterator[str]:
    """The lines of a stream. Only a line feed ends one: `iter_lines` also splits at separators inside texts."""
    rest = ""
    for text in answer.iter_text():
        *lines, rest = (rest + text).split("\n")
        yield from lines
