"""Editor and try-out in a real browser: keyboard use, late answers, accessibility."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from django.test import Client
from playwright.sync_api import Page, Route, expect

from apps.accounts.models import User
from apps.schemes.models import MarkingScheme
from apps.schemes.sheets import STEPS, sheet_of_text
from tests.schemes.factory import TEXT, make_scheme
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]


class SchemePages(Pages):
    """Rendered pages with a live check. While `is_holding`, answers wait in `held`."""

    def __init__(self, client: Client, scheme: MarkingScheme) -> None:
        listed, base = f"/problems/{scheme.problem.slug}/schemes/", f"/schemes/{scheme.public_id}/"
        self.paths = {
            "list": listed,
            "new": f"{listed}new/",
            "import": f"{listed}import/",
            "detail": base,
            "edit": f"{base}edit/",
        }
        super().__init__({path: client.get(path) for path in self.paths.values()})  # type: ignore[misc]
        self.is_holding = False
        self.held: list[Callable[[], None]] = []

    def serve(self, route: Route) -> None:
        request = route.request
        if "/schemes/check/" not in request.url and "/try/" not in request.url:
            super().serve(route)
            return
        query = QueryDict(request.post_data or request.url.partition("?")[2])
        sheet = sheet_of_text(query.get("text", TEXT), query)
        body = render_to_string("schemes/_sheet.html", {"sheet": sheet, "steps": STEPS})
        if self.is_holding:
            self.held.append(lambda: route.fulfill(body=body, content_type="text/html"))
        else:
            route.fulfill(body=body, content_type="text/html")


@pytest.fixture
def pages(client_for: Callable[[User | None], Client], bob: User) -> SchemePages:
    return SchemePages(client_for(bob), make_scheme(bob))


@contextmanager
def opened(pages: SchemePages, name: str) -> Iterator[Page]:
    """Open a page; fail on script errors and violations of the content security policy."""
    trouble: list[str] = []
    with browser_page(pages) as page:
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda line: trouble.append(line.text) if "Content Security Policy" in line.text else None)
        page.goto(pages.paths[name])
        yield page
    assert trouble == []


def test_the_try_out_works_by_keyboard_and_keeps_the_focus(pages: SchemePages) -> None:
    with opened(pages, "detail") as page:
        page.locator("#tick-A1").focus()
        page.keyboard.press("Space")
        expect(page.locator(".tryout__line")).to_have_text("Chain A: A1 3 = 3; cap 5 inactive")
        expect(page.locator("#claim")).to_have_value("A1")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        expect(page.locator(".tryout__number")).to_have_text("7")
        assert page.evaluate("document.activeElement.id") == "tick-A2"


def test_a_claim_line_is_computed_while_typing_and_enter_submits_nothing(pages: SchemePages) -> None:
    with opened(pages, "detail") as page:
        page.locator("#claim").press_sequentially("B1 !K5 -D1", delay=20)
        page.keyboard.press("Enter")
        expect(page.locator(".tryout__line")).to_have_text("Chain B: B1 7 = 7; cap 5 → 5; −1 (D1 1) → 4")
        expect(page.locator("#tick-K5")).to_be_checked()
        page.keyboard.type(" q")
        expect(page.locator(".tryout .field__error")).to_have_text("q is no item of this scheme.")
        expect(page.locator("#claim")).to_have_value("B1 !K5 -D1 q")


def test_a_late_answer_overwrites_nothing(pages: SchemePages) -> None:
    with opened(pages, "detail") as page:
        pages.is_holding = True
        page.locator("#claim").press_sequentially("A1")
        page.wait_for_timeout(500)
        assert len(pages.held) == 1
        page.keyboard.type(" A2")
        pages.is_holding = False
        pages.held[0]()
        expect(page.locator(".tryout__number")).to_have_text("7")
        expect(page.locator("#claim")).to_have_value("A1 A2")


def test_the_editor_shows_errors_while_typing_and_keeps_the_ticks(pages: SchemePages) -> None:
    with opened(pages, "edit") as page:
        page.locator("#tick-A1").check()
        expect(page.locator(".tryout__number")).to_have_text("3")
        text = page.locator("#id_text")
        text.fill(f"bonus\n{TEXT}")
        expect(page.locator(".sheet [role=alert]")).to_contain_text("line 1")
        text.fill(TEXT.replace("4 points", "3 points").replace("B1, 7", "B1, 6"))
        expect(page.locator(".sheet__issues")).to_contain_text("No chain reaches 7: the best is 6.")
        expect(page.locator("#tick-A1")).to_be_checked()
        text.fill(TEXT)
        expect(page.get_by_text("No issues found.")).to_be_visible()


@needs_axe
def test_pages_are_accessible_and_fit_a_narrow_screen(pages: SchemePages) -> None:
    with opened(pages, "list") as page:
        for name, path in pages.paths.items():
            page.goto(path)
            assert faults_in_both_themes(page, all_of_them=True) == [], name
            page.set_viewport_size({"width": 390, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
