"""Help in a real browser: results appear while one types, a link opens its section, everyone can read it at any width."""

import pytest
from django.test import Client
from playwright.sync_api import expect

from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
ADDRESSES = ("/help/", "/help/results/", "/help/settings/", "/help/final_answers/")


@pytest.fixture
def pages(client: Client) -> Pages:
    return Pages({address: client.get(address) for address in ADDRESSES})  # type: ignore[misc]  # They are HttpResponse objects.


def test_results_appear_while_one_types_and_lead_to_the_section(pages: Pages, client: Client) -> None:
    found = client.get("/help/?q=appeals")
    with browser_page(pages) as page:
        page.goto("/help/")
        pages.answers["/help/"] = found  # type: ignore[assignment]
        page.get_by_role("searchbox", name="Search help").press_sequentially("appeals")
        expect(page.locator("#count")).to_have_text(f"{len(found.context['found'])} sections")
        expect(page).to_have_url("http://localhost:9/help/?q=appeals")
        page.get_by_role("link", name="Appeals", exact=True).click()
        expect(page).to_have_url("http://localhost:9/help/results/#appeals")
        expect(page.locator("#appeals")).to_be_in_viewport()


@needs_axe
@pytest.mark.parametrize("width", [1440, 390])
def test_help_can_be_used_by_all(pages: Pages, width: int) -> None:
    with browser_page(pages, viewport={"width": width, "height": 900}) as page:
        for address in ADDRESSES:
            page.goto(address)
            assert faults_in_both_themes(page) == [], address
