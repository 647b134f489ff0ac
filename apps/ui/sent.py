"""What a request may say, read without surprises: whole numbers of bounded length, and JSON objects of bounded size."""

import json
from typing import Any

from django.http import HttpRequest
from django.http.request import RawPostDataException

#: Every whole number that both databases and JavaScript can hold has at most this many digits.
DIGITS_AT_MOST = 15


class BodyWrong(ValueError):
    """What was sent is not what this address takes; the message says what it takes."""


def whole_number(text: str, digits: int = DIGITS_AT_MOST) -> int | None:
    """The number that a text in plain digits means; None for anything else and for more than `digits` of them."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def json_object(request: HttpRequest, *, bytes_at_most: int = 64 * 1024) -> dict[str, Any]:
    """The JSON object that was sent. Raises `BodyWrong` where it is none, is too long, or came as a form."""
    if request.content_type != "application/json":
        raise BodyWrong("Send JSON, with the header Content-Type: application/json.")
    try:
        data = request.body
        if len(data) > bytes_at_most:
            raise BodyWrong(f"This is too long: at most {bytes_at_most // 1024} KiB are read here.")
        found = json.loads(data or b"{}")
        json.dumps(found, ensure_ascii=False).encode()  # Half a surrogate pair is JSON, and no text that can be stored.
    except RawPostDataException as error:
        raise BodyWrong("This was sent as a form. Send JSON.") from error
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, BodyWrong) else BodyWrong("This is no JSON.") from error
    if not isinstance(found, dict):
        raise BodyWrong("This is no JSON object.")
    return found
