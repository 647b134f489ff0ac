"""A browser over pages rendered by Django in advance: no server and no open database, but real headers and files.

The test client fetches the pages first, because Django's database must not be used during Playwright's event loop.
"""

import mimetypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpResponse
from playwright.sync_api import Page, Route

from tests.ui.chromium import CHROMIUM, PATIENCE_MS, chromium

ORIGIN = "http://localhost:9"  # Browsers trust localhost as they trust https; every request is answered by `Pages`.

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


class Pages:
    """Rendered pages by path; /static/ is served from the folder."""

    def __init__(self, answers: dict[str, HttpResponse]) -> None:
        self.answers = answers
        self.posts: list[str] = []

    def serve(self, route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN).split("?")[0]
        if route.request.method == "POST":
            self.posts.append(path)
            route.fulfill(status=204)
        elif path.startswith("/static/"):
            file = settings.BASE_DIR / path.removeprefix("/")
            kind = "text/javascript" if file.suffix in {".js", ".mjs"} else mimetypes.guess_type(file.name)[0] or "text/plain"
            if file.is_file():
                route.fulfill(body=file.read_bytes(), content_type=kind)
            else:
                route.fulfill(status=404, body="")
        elif path in self.answers:
            answer = self.answers[path]
            route.fulfill(body=answer.content, headers=dict(answer.items()))
        else:
            route.fulfill(status=404, body="")


@contextmanager
def browser_page(pages: Pages, **options: Any) -> Iterator[Page]:
    """A page with a fresh profile in the browser of this process; `options` as for Playwright's `new_context`."""
    with chromium() as browser:
        context = browser.new_context(base_url=ORIGIN, **options)
        context.route("**/*", pages.serve)
        context.set_default_timeout(PATIENCE_MS)
        yield context.new_page()
