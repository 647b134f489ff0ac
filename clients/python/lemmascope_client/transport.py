"""Requests with a token: repeated where the connection breaks, with an idempotency key where they write."""

import uuid
from collections.abc import Mapping
from time import sleep
from types import TracebackType
from typing import Any

import httpx

from lemmascope_client.errors import Disconnected, error_of, retry_after

TRIES = 4
#: The longest wait between two tries, in seconds.
LONGEST_WAIT_S = 30.0


class Transport:
    """The connection to one installation."""

    def __init__(self, url: str, token: str, timeout_s: float = 30.0, transport: httpx.BaseTransport | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=f"{url.rstrip('/')}/api/v1/", headers=headers, timeout=timeout_s, transport=transport)

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """The JSON at a path. Raises `LemmascopeError`."""
        return self._asked("GET", path, params=params)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON that answers a writing request, which happens once however often it is sent. Raises `LemmascopeError`."""
        return self._written("POST", path, body)

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Like `post`, for a change of something."""
        return self._written("PATCH", path, body)

    def delete(self, path: str) -> Any:
        """Like `post`, for a deletion; the answer is what was deleted."""
        return self._written("DELETE", path)

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    def __enter__(self) -> "Transport":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _written(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self._asked(method, path, json=dict(body or {}), headers={"Idempotency-Key": uuid.uuid4().hex})

    def _asked(self, method: str, path: str, **request: Any) -> Any:
        for tried in range(1, TRIES + 1):
            try:
                answer = self.http.request(method, path, **request)
            except httpx.TransportError as error:
                if tried == TRIES:
                    raise unreachable(self.http, error) from error
                sleep(backoff_s(tried))
                continue
            if answer.status_code == 503 and tried < TRIES:
                sleep(min(retry_after(answer) or backoff_s(tried), LONGEST_WAIT_S))
                continue
            if answer.is_error:
                raise error_of(answer)
            return answer.json()
        raise AssertionError("unreachable")


def backoff_s(tried: int) -> float:
    """Seconds to wait after the n-th failed try."""
    return min(0.25 * 2.0**tried, LONGEST_WAIT_S)


def unreachable(http: httpx.Client, error: httpx.TransportError) -> Disconnected:
    """The exception for an installation that does not answer."""
    return Disconnected(f"{http.base_url.host} cannot be reached ({error}). Check the address, and that the stack is running.")
