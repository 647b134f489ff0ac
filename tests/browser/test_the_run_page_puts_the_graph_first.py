"""The page of a run: graph and reading pane take the screen, the pane keeps its width, and on a phone it is a sheet."""

from collections.abc import Callable

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.runs.models import Run
from tests.browser.run_pages import RunPages
from tests.explorations.factory import make_exploration
from tests.explorations.test_replay import open_page
from tests.graph_js.graph_page import GRAPH, wait_until
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
LEAST_SHARE = 0.75


@pytest.fixture
def run(alice: User) -> Run:
    return make_exploration(alice)


@pytest.fixture
def pages(client_for: Callable[[User | None], Client], alice: User, run: Run) -> RunPages:
    return RunPages(client_for(alice), run)


def share_of_screen(page: Page, selector: str) -> float:
    """The part of the first screen that the element takes."""
    found: float = page.evaluate(f"""() => {{ const box = document.querySelector({selector!r}).getBoundingClientRect();
      const [wide, high] = [Math.min(box.right, innerWidth) - box.left, Math.min(box.bottom, innerHeight) - box.top];
      return (wide * high) / (innerWidth * innerHeight); }}""")
    return found


def test_graph_and_pane_take_three_quarters_of_the_first_screen(pages: RunPages, run: Run) -> None:
    with open_page(pages, run, viewport={"width": 1440, "height": 900}) as page:
        wait_until(page, f"Boolean({GRAPH}?.ready)")
        page.evaluate(f"{GRAPH}.ready")
        assert share_of_screen(page, ".run__main") >= LEAST_SHARE
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight + 60")
        page.locator('[data-replay] [data-action="start"]').click()
        page.locator('[data-part="bar"]').wait_for()
        for part in ('[data-part="canvas"]', ".rounds__strip", "#lanes", "#panel"):
            box = page.locator(part).first.bounding_box()
            assert box is not None
            assert box["y"] + min(box["height"], 80) <= 900, f"{part} is below the first screen in a replay"


def test_the_width_of_the_pane_is_kept(pages: RunPages, run: Run) -> None:
    with open_page(pages, run, viewport={"width": 1440, "height": 900}) as page:
        divider = page.locator("[data-divider]")
        before = page.locator(".run__side").bounding_box()
        divider.focus()
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
        expect(divider).to_have_attribute("aria-valuenow", "46")
        page.reload()
        expect(divider).to_have_attribute("aria-valuenow", "46")
        after = page.locator(".run__side").bounding_box()
        assert before
        assert after
        assert after["width"] > before["width"] + 100


def test_on_a_phone_the_pane_is_a_sheet_over_the_graph(pages: RunPages, run: Run) -> None:
    with open_page(pages, run, viewport={"width": 390, "height": 844}) as page:
        handle = page.locator('[data-action="sheet"]')
        expect(handle).to_have_attribute("aria-expanded", "false")
        expect(page.locator("#panel")).to_be_hidden()
        handle.click()
        expect(page.locator("#panel")).to_be_visible()
        page.get_by_role("button", name="Back to the graph").click()
        expect(page.locator("#panel")).to_be_hidden()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@needs_axe
def test_axe_reports_no_violations(pages: RunPages, run: Run) -> None:
    with open_page(pages, run) as page:
        assert faults_in_both_themes(page, all_of_them=True) == []
