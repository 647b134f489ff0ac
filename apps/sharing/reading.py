"""What people with a link read. Each response takes its run from the token alone.

Unknown, ended and revoked links and those of held-back problems have one response, which names no run.
"""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from apps.accounts.origin import address_of
from apps.accounts.throttle import opening_take
from apps.lemmas.network import run_graph
from apps.sharing import selectors, services
from apps.sharing.access import link_of
from apps.sharing.models import SharedLink
from apps.ui.words import duration

_P = ParamSpec("_P")
_HEADERS = {
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
}


def _by_token(
    view: Callable[Concatenate[HttpRequest, SharedLink, str, _P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Pass the link of the token and the address of its page to a view; refuse all others and those who ask too often."""

    @wraps(view)
    @require_GET
    @login_not_required
    def wrapper(request: HttpRequest, token: str, *args: _P.args, **kwargs: _P.kwargs) -> HttpResponseBase:
        answer = _answer(request, token, *args, **kwargs)
        for name, value in _HEADERS.items():
            answer[name] = value
        vars(answer)["_has_been_logged"] = True  # Django would log the address of a refused request, and the token in it.
        return answer

    def _answer(request: HttpRequest, token: str, *args: _P.args, **kwargs: _P.kwargs) -> HttpResponseBase:
        if refused := opening_take(address_of(request)):
            busy = render(request, "sharing/shared_busy.html", {"wait": duration(refused.wait_s)}, status=429)
            busy["Retry-After"] = str(math.ceil(refused.wait_s))
            return busy
        link = link_of(token)
        if link is None:
            return _gone(request)
        return view(request, link, reverse("sharing:shared_run", args=[token]), *args, **kwargs)

    return wrapper


@_by_token
def shared_run(request: HttpRequest, link: SharedLink, base: str) -> HttpResponse:
    """The statement, the graph, the proof and its lemmas."""
    services.link_note_use(link=link)
    run = link.run
    context = {
        "run": run,
        "link": link,
        "base": base,
        "shared": selectors.shared_run(run_graph(run)),
        "drawing": {"url": f"{base}graph.json", "outline": "sharing/_outline.html"},
    }
    return render(request, "sharing/shared_run.html", context)


@_by_token
def shared_graph(request: HttpRequest, link: SharedLink, base: str) -> HttpResponse:
    """The graph as JSON for the drawing."""
    return JsonResponse(selectors.shared_graph(link.run, base))


@_by_token
def shared_lemma(request: HttpRequest, link: SharedLink, base: str, lemma: str) -> HttpResponse:
    """One lemma of the run: a part for the drawing, else a page."""
    return _text(request, link, base, selectors.shared_lemma(run_graph(link.run), lemma))


@_by_token
def shared_proof(request: HttpRequest, link: SharedLink, base: str, name: str) -> HttpResponse:
    """One version of the proof: a part for the drawing, else a page."""
    return _text(request, link, base, selectors.shared_proof(run_graph(link.run), name))


def _text(request: HttpRequest, link: SharedLink, base: str, text: selectors.SharedText | None) -> HttpResponse:
    if text is None:
        return _gone(request)
    context: dict[str, Any] = {"run": link.run, "link": link, "base": base, "text": text}
    return render(request, "sharing/_text.html" if "HX-Request" in request.headers else "sharing/shared_text.html", context)


def _gone(request: HttpRequest) -> HttpResponse:
    return render(request, "sharing/shared_gone.html", status=404)
