"""One Chromium for all tests of a process, because it starts slowly. Every test has its own profiles."""

import asyncio
import atexit
import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


PATIENCE_MS = 30_000  # Long, so that busy machines do not fail tests.
# SLOW_BROWSER=8 gives pages an eighth of the processor: a test that reads too early then fails every time.
SLOWER = int(os.environ.get("SLOW_BROWSER", "1"))


@dataclass
class _Started:
    playwright: Playwright
    browser: Browser
    loop: asyncio.AbstractEventLoop


_started: _Started | None = None


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, started on first use. Profiles created in the block are closed at its end.

    Playwright's event loop is paused and hidden between two uses: otherwise Django would refuse database access and no other
    loop could run in this thread.
    """
    expect.set_options(timeout=PATIENCE_MS)
    browser = _resume()
    others = browser.contexts
    try:
        yield browser
    finally:
        try:
            _close(browser, others)
        finally:
            _hide()


def _resume() -> Browser:
    global _started
    if _started is not None:
        asyncio._set_running_loop(_started.loop)
        if _started.browser.is_connected():
            return _started.browser
        _started.playwright.stop()
    else:
        atexit.register(_stop)
    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    if SLOWER > 1:
        _slow_down(browser)
    _started = _Started(playwright, browser, asyncio.get_running_loop())
    return browser


def _slow_down(browser: Browser) -> None:
    """Slow down all pages opened later by the factor `SLOWER`."""
    new_context = browser.new_context

    def slow_context(**options: Any) -> BrowserContext:
        context = new_context(**options)
        new_page = context.new_page

        def slow_page() -> Page:
            page = new_page()
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
            return page

        context.new_page = slow_page  # type: ignore[method-assign]
        return context

    browser.new_context = slow_context  # type: ignore[method-assign]


def _close(browser: Browser, others: list[BrowserContext]) -> None:
    """Close the profiles. Ignore errors of abandoned requests, so that they do not fail the next test."""
    for context in browser.contexts:
        if context not in others:
            with contextlib.suppress(Error):
                context.unroute_all(behavior="ignoreErrors")
            context.close()


def _hide() -> None:
    asyncio._set_running_loop(None)
    sys.set_asyncgen_hooks(None, None)


def _stop() -> None:
    if _started is not None:
        asyncio._set_running_loop(_started.loop)
        _started.playwright.stop()
