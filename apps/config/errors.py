"""What a request gets that failed: 503 with advice where the server cannot do it now, 500 where the program is wrong.

Text that was typed comes back. A full page offers a form's fields again; htmx and scripts keep theirs and get one sentence.
The page asks neither the database nor the session, which may be what failed.
"""

import sys
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string

from apps.ui.unavailable import Unavailable, unavailable_of

API = "/api/"
#: Longer values, and those of several words, are shown to be copied; the others are only sent again.
SHORT = 20
_FAULT = "Something went wrong on the server. What you did last may not have been saved; everything recorded before is kept."


@dataclass
class Typed:
    """What a form sent: texts to show, values to send again unseen, and the names of files to choose again."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)
    files: list[tuple[str, str]] = field(default_factory=list)
    has_password: bool = False
    """A password was sent too. It is not kept, so the form has to be filled in again."""


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`: called while the error is being handled."""
    found = unavailable_of(sys.exc_info()[1])
    status, words = (503, sentences(found, is_change=request.method == "POST")) if found else (500, _FAULT)
    if request.path_info.startswith(API) or request.headers.get("Accept", "").startswith("application/json"):
        answer: HttpResponse = JsonResponse({"detail": words, "message": words}, status=status)
    elif "HX-Request" in request.headers:
        answer = HttpResponse(words, status=status, content_type="text/plain; charset=utf-8")
    elif found:
        answer = HttpResponse(_page(request, found), status=status)
    else:
        answer = HttpResponse(render_to_string("500.html"), status=status)
    if found:
        answer["Retry-After"] = str(found.retry_after_s)
        answer["Cache-Control"] = "no-store"
    return answer


def sentences(found: Unavailable, *, is_change: bool) -> str:
    """What happened, what it means for what was typed, and what to do, in one line."""
    meaning = f"{found.saved} What you typed is still here." if is_change else ""
    return " ".join(part for part in (found.headline, found.explanation, meaning, found.advice) if part)


def typed_in(request: HttpRequest) -> Typed:
    """The fields of the form that was sent, without passwords and our own token.

    Only what passed the CSRF check is offered again: else a page of another site could have its form sent from ours.
    """
    found = Typed()
    if not getattr(request, "csrf_processing_done", False):
        return found
    try:
        fields, files = list(request.POST.lists()), list(request.FILES.lists())
    except Exception:  # What failed may have been the reading of this very form.
        return found
    for name, values in fields:
        found.has_password |= "password" in name
        if "password" in name or name == "csrfmiddlewaretoken":
            continue
        for value in values:
            is_text = len(value) > SHORT or len(value.split()) > 1
            (found.texts if is_text else found.values).append((name, value))
    found.files = [(name, one.name or "a file") for name, several in files for one in several]
    return found


def _page(request: HttpRequest, found: Unavailable) -> str:
    is_change = request.method == "POST"
    context = {
        "found": found,
        "is_change": is_change,
        "typed": typed_in(request) if is_change else None,
        "again": request.get_full_path(),
        "csrf_token": get_token(request),
    }
    return render_to_string("503.html", context)


class AnswersWithoutRoom:
    """An ASGI application that also answers where a request could not even be taken in, because the disk is full."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        has_begun = False

        async def sent(event: dict[str, Any]) -> None:
            nonlocal has_begun
            has_begun = True
            await send(event)

        try:
            await self.inner(scope, receive, sent)
        except OSError as error:
            found = unavailable_of(error)
            if found is None or has_begun:
                raise
            body = render_to_string("503.html", {"found": found, "is_change": True, "is_unread": True}).encode()
            headers = [
                (b"content-type", b"text/html; charset=utf-8"),
                (b"content-security-policy", b"default-src 'self'"),
                (b"retry-after", str(found.retry_after_s).encode()),
            ]
            await send({"type": "http.response.start", "status": 503, "headers": headers})
            await send({"type": "http.response.body", "body": body})
