"""Strict parsing of requests: whole numbers of bounded length, ids, and JSON objects of bounded size."""

import json
import uuid
from typing import Any

from django.http import HttpRequest
from django.http.request import RawPostDataException

#: Every whole number with at most this many digits fits both databases and JavaScript.
DIGITS_AT_MOST = 15


class BodyWrong(ValueError):
    """The body has the wrong format; the message has the expected one."""


def whole_number(text: str, digits: int = DIGITS_AT_MOST) -> int | None:
    """The number of a text in plain digits; None for anything else and for more than `digits` digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def uuid_of(text: str) -> uuid.UUID | None:
    """The UUID of a text in canonical form; None for anything else."""
    try:
        found = uuid.UUID(text)
    except ValueError:
        return None
    return found if str(found) == text else None


def row_version(request: HttpRequest) -> int:
    """The posted version of a row (`based_on`); 0, which no row has, if it is missing or invalid."""
    return whole_number(request.POST.get("based_on", ""), 9) or 0


def json_object(request: HttpRequest, *, bytes_at_most: int = 64 * 1024) -> dict[str, Any]:
    """The JSON object of the body. Raises `BodyWrong` for other content, too much content, or a form."""
    if request.content_type != "application/json":
        raise BodyWrong("Send JSON, with the header Content-Type: application/json.")
    try:
        data = request.body
        if len(data) > bytes_at_most:
            raise BodyWrong(f"The request is too long. Send at most {bytes_at_most // 1024} KiB.")
        found = json.loads(data or b"{}")
        json.dumps(found, ensure_ascii=False).encode()  # Half a surrogate pair is valid JSON, but cannot be stored.
    except RawPostDataException as error:
        raise BodyWrong("The request was sent as a form. Send JSON.") from error
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, BodyWrong) else BodyWrong("The request is not valid JSON.") from error
    if not isinstance(found, dict):
        raise BodyWrong("The request is not a JSON object.")
    return found
