"""The base page in a real browser: themes, menu, questions, narrow screens, accessibility."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import ApiToken, User
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
DARK_PAPER = "rgb(20, 22, 26)"
LIGHT_PAPER = "rgb(253, 252, 249)"
PAPER = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture
def pages(client_for: Callable[[User | None], Client], alice: User) -> Pages:
    ApiToken.issue(alice, "notebook")
    client = client_for(alice)
    names = ["home", "api_docs", "accounts:profile", "accounts:password"]
    answers = {reverse(name): client.get(reverse(name)) for name in names}
    answers[reverse("accounts:login")] = Client().get(reverse("accounts:login"))
    return Pages(answers)  # type: ignore[arg-type]  # The client's answers are HttpResponse objects.


def test_a_chosen_theme_applies_to_the_next_page_until_system_is_chosen(pages: Pages) -> None:
    with browser_page(pages, color_scheme="light") as page:
        page.goto("/")
        assert page.evaluate(PAPER) == LIGHT_PAPER
        page.click(".menu summary")
        page.click('[data-theme-choice="dark"]')
        assert page.evaluate(PAPER) == DARK_PAPER
        page.goto(reverse("accounts:profile"))
        assert page.evaluate(PAPER) == DARK_PAPER
        page.click(".menu summary")
        assert page.get_attribute('[data-theme-choice="dark"]', "aria-pressed") == "true"
        page.click('[data-theme-choice="system"]')
        assert page.evaluate(PAPER) == LIGHT_PAPER


def test_the_default_theme_follows_the_system(pages: Pages) -> None:
    with browser_page(pages, color_scheme="dark") as page:
        page.goto("/")
        assert page.evaluate(PAPER) == DARK_PAPER


def test_escape_closes_the_menu_and_restores_the_focus(pages: Pages) -> None:
    with browser_page(pages) as page:
        page.goto("/")
        page.click(".menu summary")
        page.keyboard.press("Escape")
        assert page.evaluate("document.querySelector('.menu').open") is False
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_a_destructive_action_asks_once(pages: Pages) -> None:
    with browser_page(pages) as page:
        page.goto(reverse("accounts:profile"))
        page.click("td >> text=Revoke")
        page.click("dialog button[value=no]")
        page.wait_for_selector("dialog", state="detached")
        assert pages.posts == []
        page.click("td >> text=Revoke")
        with page.expect_request("**/revoke/"):
            page.click("dialog button[value=yes]")


def test_the_first_tab_leads_to_the_content(pages: Pages) -> None:
    with browser_page(pages) as page:
        page.goto("/")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


def test_no_page_is_wider_than_a_phone(pages: Pages) -> None:
    with browser_page(pages, viewport={"width": 390, "height": 800}) as page:
        for path in pages.answers:
            page.goto(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path


def test_pages_have_no_script_errors_or_blocked_files(pages: Pages) -> None:
    troubles: list[str] = []
    with browser_page(pages) as page:
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
        for path in pages.answers:
            page.goto(path, wait_until="networkidle")
    assert troubles == []


@needs_axe
def test_axe_reports_no_violations(pages: Pages) -> None:
    with browser_page(pages) as page:
        for path in pages.answers:
            page.goto(path)
            page.evaluate("document.querySelectorAll('details').forEach((element) => { element.open = true; })")
            assert faults_in_both_themes(page, all_of_them=True) == [], path
