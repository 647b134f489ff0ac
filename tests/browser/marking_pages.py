"""A marker's browser on a server of the test: signed in, keys counted, requests held back where a test wants it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from tests.ui.chromium import PATIENCE_MS, chromium

SAVED = re.compile(r"^(Saved|Nothing unsaved|Sealed)")
ClientFor = Callable[[User | None], Client]


class Hands:
    """A keyboard that counts."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pressed = 0

    def press(self, *keys: str) -> "Hands":
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1
        return self


class Room:
    """A browser of one marker, on as many pages as wanted. Troubles of any of them are collected."""

    def __init__(self, browser: Browser, base_url: str, session: str, **options: Any) -> None:
        self.base_url = base_url
        self.context: BrowserContext = browser.new_context(base_url=base_url, **options)
        self.context.add_cookies([{"name": "sessionid", "value": session, "url": base_url}])
        self.context.set_default_timeout(PATIENCE_MS)
        self.trouble: list[str] = []

    def page(self, path: str = "") -> Page:
        """A new page, at a path where one is given."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        if path:
            page.goto(path)
        return page

    def begin(self) -> Page:
        """A page with the first script that the home page gives."""
        page = self.page("/marking/")
        page.get_by_role("button", name="Mark").first.click()
        settled(page)
        return page


@contextmanager
def room_of(live_server: LiveServer, session: str, **options: Any) -> Iterator[Room]:
    """The browser, with a profile that is closed at the end; nothing may have gone wrong in its pages."""
    with chromium() as browser:
        room = Room(browser, live_server.url, session, **options)
        yield room
        assert room.trouble == []


def session_of(client_for: ClientFor, user: User) -> str:
    """The cookie of a signed-in person; to be made before the browser opens."""
    return client_for(user).cookies["sessionid"].value


def settled(page: Page) -> None:
    """Wait until the workspace is ready, every pressed key has had its effect, and everything is saved."""
    page.wait_for_selector("[data-marking][data-ready]")
    # A dialog reports its answer in a task of its own after closing: "Saved" may still refer to the state before the key.
    page.evaluate("() => new Promise((done) => setTimeout(() => setTimeout(done)))")
    expect(page.locator('[data-part="status"]')).to_have_text(SAVED)


def paper_of(page: Page) -> str:
    """The number of the paper that is shown."""
    return page.locator(".marking__title .contest-number").inner_text()
