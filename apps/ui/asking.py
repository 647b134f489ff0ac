"""Confirmations: a form with `{% ask %}` is processed after a question, in a dialog of site.js or on a page.

The question is in the hidden field `ask`, which site.js removes once the user agrees. A form that still has it comes from a
browser without JavaScript: the middleware answers with a page that has the question and the same fields. A page cannot resend
files, so a form with files is processed at once.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import url_has_allowed_host_and_scheme

FIELD = "ask"
_NOT_REPEATED = {FIELD, "csrfmiddlewaretoken"}
_SEPARATOR = "|"


class Question(NamedTuple):
    """A question. `of`: the button (`name=value`) that needs it, empty for all; `yes`: label of the confirming button."""

    of: str
    yes: str
    words: str

    @property
    def written(self) -> str:
        """The value of the hidden field; static/js/site.js reads it too."""
        return _SEPARATOR.join(self)


class ConfirmMiddleware(MiddlewareMixin):
    """Answer a form that needs confirmation with its question. Runs after the CSRF check, so that no other site chooses the
    words."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _args: object, _kwargs: object
    ) -> HttpResponse | None:
        if request.method != "POST" or getattr(view, "csrf_exempt", False) or request.FILES:
            return None
        question = next((one for text in request.POST.getlist(FIELD) if (one := _asked(request, text))), None)
        if question is None:
            return None
        lists = request.POST.lists()
        context = {
            "question": question,
            "fields": [(name, value) for name, values in lists if name not in _NOT_REPEATED for value in values],
            "back": _back(request),
        }
        return render(request, "confirm.html", context)


def _asked(request: HttpRequest, text: str) -> Question | None:
    """The question, unless it belongs to another button than the pressed one."""
    parts = text.split(_SEPARATOR, 2)
    if len(parts) != 3:
        return None
    question = Question(*parts)
    name, _, value = question.of.partition("=")
    return question if not name or request.POST.get(name) == value else None


def _back(request: HttpRequest) -> str:
    """The page with the form, or the home page."""
    address = request.headers.get("Referer", "")
    return address if url_has_allowed_host_and_scheme(address, {request.get_host()}, request.is_secure()) else "/"
