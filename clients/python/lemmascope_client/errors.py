"""Exceptions of the client. The message of each is the server's sentence, which says what to do."""

from typing import Any

import httpx


class LemmascopeError(Exception):
    """The server refused a request. `status` is the HTTP status, 0 without an answer."""

    status = 0

    def __init__(self, detail: str, status: int = 0, errors: list[dict[str, Any]] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status or self.status
        self.errors = errors or []


class NotSignedIn(LemmascopeError):
    """The token is missing, wrong or revoked."""

    status = 401


class NotAllowed(LemmascopeError):
    """The token may only read, or its owner may not do this."""

    status = 403


class NotFound(LemmascopeError):
    """There is no such object, or the owner of the token may not see it."""

    status = 404


class Conflict(LemmascopeError):
    """Not possible in the present state, or the key belongs to another request."""

    status = 409


class Invalid(LemmascopeError):
    """A field is wrong; `errors` has the place (`loc`) and the correction (`msg`) of each."""

    status = 422


class TooMany(LemmascopeError):
    """Too many requests or streams. Wait `retry_after_s` seconds."""

    status = 429
    retry_after_s = 0.0


class Unavailable(LemmascopeError):
    """The server cannot answer at the moment, also after the client has tried again."""

    status = 503


class Disconnected(LemmascopeError):
    """The server cannot be reached. Check the address, and that the stack is running."""


_BY_STATUS = {one.status: one for one in (NotSignedIn, NotAllowed, NotFound, Conflict, Invalid, TooMany, Unavailable)}


def error_of(answer: httpx.Response) -> LemmascopeError:
    """The exception for a refused request whose body was read."""
    try:
        body = answer.json()
    except ValueError:
        body = {}
    problem = body if isinstance(body, dict) else {}
    detail = str(problem.get("detail") or f"The server answered {answer.status_code} without a reason.")
    kind = _BY_STATUS.get(answer.status_code, LemmascopeError)
    error = kind(detail, answer.status_code, problem.get("errors"))
    if isinstance(error, TooMany):
        error.retry_after_s = retry_after(answer)
    return error


def retry_after(answer: httpx.Response) -> float:
    """The seconds to wait that the server asks for; 0 if it asks for none."""
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isdigit() else 0.0
