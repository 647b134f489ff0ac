"""Turns with tools in a browser: readable on every width, opened by a click, still open after a refresh of the part."""

from collections.abc import Callable

import pytest
from django.test import Client
from playwright.sync_api import expect

from apps.accounts.models import User
from apps.runs.models import Run
from tests.explorations.test_conversations_of_a_run import played
from tests.explorations.test_replay import open_page, place_of
from tests.ui.browser import Pages, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def run(transactional_db: None) -> Run:
    return played()


@pytest.fixture
def pages(client_for: Callable[[User | None], Client], alice: User, run: Run) -> Pages:
    client, base = client_for(alice), f"/runs/{run.public_id}/"
    answers = {base + path: client.get(base + path) for path in ("", "lineage.json", "lineage/outline/", "replay.json")}
    parts = ("header/", "timeline/", "solutions/")
    answers |= {base + path: client.get(base + path, headers={"HX-Request": "true"}) for path in parts}
    return Pages(answers)  # type: ignore[arg-type]  # The client's answers are HttpResponse objects.


def test_code_and_response_are_read_and_an_evaluator_is_opened(run: Run, pages: Pages) -> None:
    with open_page(pages, run) as page:
        expect(page.locator('pre[aria-label="Code"]').first).to_have_text("print(2+2)", use_inner_text=True)
        expect(page.locator('pre[aria-label="Tool response"]').first).to_contain_text("4", use_inner_text=True)
        evaluator = page.locator('[data-keep="talk judge/c1.1/1"]')
        expect(evaluator.locator("ol")).not_to_be_visible()
        evaluator.locator("summary").click()
        expect(evaluator.locator("ol")).to_contain_text("hands in a report", use_inner_text=True)


def test_a_replay_shows_turns_judgements_and_memory_only_once_they_are_there(run: Run, pages: Pages) -> None:
    turn, stored = place_of(run, "turn.taken"), place_of(run, "memory.stored")
    with open_page(pages, run, "?at=2") as page:
        page.locator('[data-part="bar"]').wait_for()
        expect(page.locator("#run-solutions > .section:visible")).to_have_count(0)
        expect(page.locator("[data-moment=tools]")).to_be_hidden()
        scrub = page.locator('[data-part="scrub"]')
        scrub.fill(str(turn))
        expect(page.locator(".talk__turn:visible")).to_have_count(1)
        expect(page.locator("[data-count=tools]")).to_have_text("1 of 1", use_inner_text=True)
        expect(page.locator('[data-moment="memory c1.1"]')).to_be_hidden()
        scrub.fill(str(stored - 1))
        expect(page.locator("#c1\\.1")).to_be_visible()
        expect(page.locator('[data-moment="memory c1.1"]')).to_be_hidden()
        scrub.fill(str(stored))
        expect(page.locator('[data-moment="memory c1.1"]')).to_be_visible()
        page.locator('[data-action="leave"]').click()
        expect(page.locator("[data-count=tools]")).to_have_text("2 of 3", use_inner_text=True)
        expect(page.locator("#run-solutions [data-moment]:not([hidden])")).to_have_count(
            page.locator("#run-solutions [data-moment]").count()
        )


def test_nothing_reaches_over_the_edge_of_a_narrow_screen(run: Run, pages: Pages) -> None:
    with open_page(pages, run) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        for details in page.locator("#run-solutions details").all():
            details.evaluate("(one) => { one.open = true; }")
        over = page.evaluate(
            "[...document.querySelectorAll('#run-solutions *')].filter((one) => !one.closest('.scroll-x, pre, .katex')"
            " && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 120))"
        )
        assert over == []
