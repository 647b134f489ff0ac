"""Responses to failed requests: 503 with advice if the server cannot do it now, 500 for an error in the program.

Typed text is returned: a full page shows the form's fields again; htmx and scripts keep their fields and get one sentence. The
page uses neither the database nor the session, either of which may have failed.
"""

import sys
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.views.defaults import page_not_found

from apps.config.api.refusals import refusal
from apps.ui.unavailable import Unavailable, unavailable_of

API = "/api/"
#: Longer values, and values of several words, are shown for copying. Others are only sent again.
SHORT = 20
_FAULT = {
    "headline": "Something went wrong on the server.",
    "explanation": "Your last change may not have been saved. Everything recorded before is kept, and runs continue.",
}


@dataclass
class SentForm:
    """The content of a sent form: texts to show, values to send again as hidden fields, and names of files to choose again."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)
    files: list[tuple[str, str]] = field(default_factory=list)
    has_password: bool = False
    """A password was sent too. It is not kept, so the user must fill in the form again."""


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's `handler404`: a page, or for a program a refusal as all others of the API."""
    if request.path_info.startswith(API):
        return refusal(404, "There is no operation at this address. The page /api/ lists all operations.")
    return page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`, called while the error is being handled."""
    found = unavailable_of(sys.exc_info()[1])
    status, words = (503, sentences(found, is_change=request.method == "POST")) if found else (500, " ".join(_FAULT.values()))
    if request.path_info.startswith(API):
        answer: HttpResponse = refusal(status, words)
    elif request.headers.get("Accept", "").startswith("application/json"):
        answer = JsonResponse({"detail": words, "message": words}, status=status)
    elif "HX-Request" in request.headers:
        answer = HttpResponse(words, status=status, content_type="text/plain; charset=utf-8")
    elif found:
        answer = HttpResponse(_page(request, found), status=status)
    else:
        answer = HttpResponse(render_to_string("500.html", _FAULT), status=status)
    if found:
        answer["Retry-After"] = str(found.retry_after_s)
        answer["Cache-Control"] = "no-store"
    return answer


def sentences(found: Unavailable, *, is_change: bool) -> str:
    """One line: what happened, what it means for the typed text, and what to do."""
    meaning = f"{found.saved} What you typed is still here." if is_change else ""
    return " ".join(part for part in (found.headline, found.explanation, meaning, found.advice) if part)


def sent_form(request: HttpRequest) -> SentForm:
    """The fields of the sent form, without passwords and the CSRF token.

    Only a form that passed the CSRF check is offered again; otherwise another site could get its form sent from ours.
    """
    found = SentForm()
    if not getattr(request, "csrf_processing_done", False):
        return found
    try:
        fields, files = list(request.POST.lists()), list(request.FILES.lists())
    except Exception:  # Reading this form may have been the failure.
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
        "typed": sent_form(request) if is_change else None,
        "again": request.get_full_path(),
        "csrf_token": get_token(request),
    }
    return render_to_string("503.html", context)


class DiskFullMiddleware:
    """ASGI middleware that answers 503 if the request could not be received because the disk is full."""

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
