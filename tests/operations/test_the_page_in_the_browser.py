"""The operations pages in a real browser: charts, updates, phones, both themes, no JavaScript."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, Route, expect
from pytest_django import Settings

from apps.accounts.models import User
from apps.operations.figures import CHARTS
from apps.processes import pulse
from apps.runs.models import RunStatus
from tests.explorations.factory import make_exploration
from tests.operations.test_history import put
from tests.operations.test_training_on_the_page import under_way
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
DRAWN = "document.querySelectorAll('.js-plotly-plot .scatterlayer .trace').length"


@pytest.fixture
def pages(
    staff: Client, alice: User, valkey: Any, worker_beats: Callable[..., None], settings: Settings, tmp_path: Path
) -> Pages:
    """The operations page with a worker, a run and an hour of history, and the run's log page."""
    settings.DATA_DIR = tmp_path
    (tmp_path / "log").mkdir()
    run = make_exploration(owner=alice, status=RunStatus.RUNNING)
    call = {"run": str(run.public_id), "key": "s0/r1/reason", "attempt": 1, "fingerprint": "f"}
    worker_beats("a-machine-with-quite-a-long-name.example.org/12345", active=[call], running=1, cached_share=0.4)
    pulse.beat(valkey, "orchestrator", 0.0)
    under_way(title="A job whose title is long, as titles of people are", host="a-machine-with-quite-a-long-name.example.org")
    line = f"2026-01-01 10:00:00,000 WARNING workers.worker: call {run.public_id}/s0/r1/reason#1 failed"
    (tmp_path / "log" / "inference.log").write_text(line)
    for ago_s in range(600, 0, -60):
        put(valkey, ago_s, running=ago_s % 7, tokens=1000 - ago_s, redis=2e6, database=1e6)
    paths = ["/operations/", "/operations/history.json", f"/operations/log/{run.public_id}/"]
    return Pages({path: staff.get(path) for path in paths})  # type: ignore[misc]  # They are HttpResponse objects.


def seen(pages: Pages) -> list[str]:
    """Paths of the HTML pages."""
    return [path for path in pages.answers if not path.endswith(".json")]


def opened(page: Page, path: str) -> None:
    """Open a page and wait until all its charts are drawn."""
    page.goto(path)
    if page.locator("[data-chart]").count():
        page.wait_for_function(f"{DRAWN} >= {sum(len(lines) for _, lines in CHARTS.values())}")


def only_whole(route: Route) -> None:
    """Abort htmx requests: only whole pages are served here, and a slow machine would insert one into itself."""
    if "hx-request" in route.request.headers:
        route.abort()
    else:
        route.fallback()


def test_every_chart_is_drawn_and_nothing_is_blocked(pages: Pages) -> None:
    troubles: list[str] = []
    with browser_page(pages) as page:
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
        opened(page, "/operations/")
        expect(page.locator("[data-chart].js-plotly-plot")).to_have_count(len(CHARTS))
    assert troubles == []


def test_charts_use_the_time_zone_of_the_reader(pages: Pages) -> None:
    first = "document.querySelector('[data-chart=calls]').data[0].x[0]"
    times: list[str] = []
    for zone in ("UTC", "Asia/Tokyo"):
        with browser_page(pages, timezone_id=zone) as page:
            opened(page, "/operations/")
            times.append(page.evaluate(first))
    hours = [int(first_time[11:13]) for first_time in times]
    assert (hours[1] - hours[0]) % 24 == 9


def test_the_figures_reload_by_themselves(pages: Pages) -> None:
    with browser_page(pages) as page:
        page.goto("/operations/")
        with page.expect_request(lambda request: request.headers.get("hx-request") == "true"):
            pass


def test_the_figures_need_no_javascript(pages: Pages) -> None:
    with browser_page(pages, java_script_enabled=False) as page:
        page.goto("/operations/")
        expect(page.locator("text=a-machine-with-quite-a-long-name").first).to_be_visible()
        assert page.locator("noscript").text_content()


def test_no_page_is_wider_than_a_phone(pages: Pages) -> None:
    with browser_page(pages, viewport={"width": 390, "height": 800}) as page:
        for path in seen(pages):
            opened(page, path)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path


def test_a_table_that_is_cut_on_a_phone_has_a_shadow_at_the_edge(pages: Pages) -> None:
    with browser_page(pages, viewport={"width": 390, "height": 800}) as page:
        opened(page, "/operations/")
        models = page.locator(".scroll-x", has_text="Queue, by priority")
        models.scroll_into_view_if_needed()
        assert models.evaluate("place => place.scrollWidth > place.clientWidth")
        drawn = "place => getComputedStyle(place).backgroundAttachment"
        assert models.evaluate(drawn) == "local, local, scroll, scroll"


@needs_axe
def test_axe_reports_no_violations(pages: Pages) -> None:
    with browser_page(pages) as page:
        page.route("**/operations/", only_whole)
        for path in seen(pages):
            opened(page, path)
            assert faults_in_both_themes(page, all_of_them=True) == [], path
