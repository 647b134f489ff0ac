"""The replay of a run that has ended: its data, and the page in a browser. Its fold: test_replay_fold.py."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.explorations.replay import replay_page
from apps.runs.models import Run, RunEvent, RunStatus
from tests.explorations.factory import make_exploration
from tests.ui.browser import Pages, browser_page, needs_chromium

ClientFor = Callable[[User | None], Client]
START, PLAY = '[data-action="start"]', '[data-action="play"]'


# --- the data ---


@pytest.fixture
def run(alice: User) -> Run:
    """The story's finished run, its events a second apart."""
    run = make_exploration(alice)
    rows = list(RunEvent.objects.filter(run=run))
    for row in rows:
        row.at = run.created_at + timedelta(seconds=row.seq)
    RunEvent.objects.bulk_update(rows, ["at"])
    return run


def test_a_page_has_small_events_with_their_times(run: Run) -> None:
    page = replay_page(run)
    assert [event[0] for event in page["events"]] == list(range(1, run.last_seq + 1))
    assert [event[1] for event in page["events"]] == [1000 * number for number in range(run.last_seq)]
    assert page["next"] == 0
    by_kind = {kind: body for _, _, kind, body in page["events"]}
    assert "text" not in by_kind["proof.drafted"]
    assert set(by_kind["lemma.proposed"]) == {"lemma", "rollout"}
    assert by_kind["vote.cast"]["subject"]
    assert len(json.dumps(page)) < 200 * run.last_seq


def test_long_runs_come_in_pages(run: Run) -> None:
    first = replay_page(run, limit=10)
    assert (len(first["events"]), first["next"]) == (10, 10)
    assert replay_page(run, after=10, limit=10)["events"][0][0] == 11
    assert replay_page(run, after=run.last_seq)["events"] == []


def test_the_data_is_for_readers_of_runs(run: Run, client_for: ClientFor, alice: User, charlie: User) -> None:
    step = run.steps.first()
    assert step is not None
    events = reverse("explorations:run_replay", args=[run.public_id])
    text = reverse("explorations:call_text", args=[run.public_id, step.key])
    assert client_for(alice).get(text).json()["text"].startswith("Text of ")
    assert client_for(alice).get(f"{events}?after=nonsense").json()["events"][0][0] == 1
    assert client_for(alice).get(reverse("explorations:call_text", args=[run.public_id, "no/such"])).status_code == 404
    for address in (events, text):
        assert client_for(charlie).get(address).status_code == 404


# --- the page ---


@pytest.fixture
def pages(client_for: ClientFor, alice: User, run: Run) -> Pages:
    client, base = client_for(alice), f"/runs/{run.public_id}/"
    parts = ("header/", "timeline/", "panel/")
    answers = {base + path: client.get(base + path) for path in ("", "graph.json", "replay.json", "graph/outline/")}
    answers |= {base + path: client.get(base + path, headers={"HX-Request": "true"}) for path in parts}
    for step in run.steps.all():
        answers[f"{base}texts/{step.key}/"] = client.get(f"{base}texts/{step.key}/")
    return Pages(answers)  # type: ignore[arg-type]  # The client's answers are HttpResponse objects.


@contextmanager
def open_page(pages: Pages, run: Run, query: str = "", **options: Any) -> Iterator[Page]:
    """The run's page; no script may fail and nothing may break the content policy."""
    trouble: list[str] = []
    with browser_page(pages, **options) as page:
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda line: trouble.append(line.text) if "Content Security Policy" in line.text else None)
        page.goto(f"/runs/{run.public_id}/{query}")
        page.locator("[data-replay]").wait_for()
        yield page
    assert trouble == []


def drawn(page: Page) -> list[str]:
    """The nodes that can be seen."""
    found: list[str] = page.evaluate(
        "document.querySelector('[data-lemma-graph]').lemmaGraph.view.cy.nodes(':visible').map((node) => node.id())"
    )
    return found


def position(page: Page) -> int:
    return int(page.locator('[data-part="scrub"]').input_value())


def place_of(run: Run, kind: str, which: int = 0) -> int:
    seqs = list(run.events.filter(kind=kind).order_by("seq").values_list("seq", flat=True))
    return int(seqs[which])


@pytest.mark.browser
@needs_chromium
def test_a_run_under_way_does_not_offer_it(run: Run, client_for: ClientFor, alice: User) -> None:
    Run.objects.filter(pk=run.pk).update(status=RunStatus.RUNNING)
    address = reverse("explorations:run_detail", args=[run.public_id])
    with browser_page(Pages({address: client_for(alice).get(address)})) as page:  # type: ignore[dict-item]
        page.goto(address)
        expect(page.locator('[data-part="link"]')).to_be_visible()
        expect(page.locator(START)).to_be_hidden()


@pytest.mark.browser
@needs_chromium
def test_scrubbing_moves_graph_votes_and_counts_together_and_back(run: Run, pages: Pages) -> None:
    begins, ends = place_of(run, "lemma.proposed"), run.last_seq
    with open_page(pages, run, f"?at={begins}") as page:
        page.locator('[data-part="bar"]').wait_for()
        page.wait_for_timeout(300)
        assert len(drawn(page)) == 2
        expect(page.locator("#replay-votes")).to_contain_text("No vote", use_inner_text=True)
        places = page.evaluate("document.querySelector('[data-lemma-graph]').lemmaGraph.view.positions()")
        page.locator('[data-part="scrub"]').focus()
        page.keyboard.press("End")
        page.wait_for_timeout(300)
        assert position(page) == ends
        assert len(drawn(page)) > 5
        assert page.locator(".votes__line").count() > 2
        page.keyboard.press("Home")
        page.wait_for_timeout(300)
        assert drawn(page) == ["problem"]
        assert page.evaluate("document.querySelector('[data-lemma-graph]').lemmaGraph.view.positions()") == places
        rows = page.locator('[data-part="outline"] [data-node]')
        assert rows.count() > 0
        expect(page.locator('[data-part="outline"] li:not([hidden])')).to_have_count(0)


@pytest.mark.browser
@needs_chromium
def test_playing_continues_by_itself_and_streams_the_texts_of_calls(run: Run, pages: Pages) -> None:
    with open_page(pages, run) as page:
        page.locator(START).click()
        page.locator('[data-part="bar"]').wait_for()
        page.locator('[data-part="speed"]').select_option("1")
        before = position(page)
        page.locator(".lane__text", has_text="Text of").first.wait_for()
        assert position(page) > before
        page.locator(PLAY).click()
        stopped = position(page)
        page.wait_for_timeout(1200)
        assert position(page) == stopped
        assert f"at={stopped}" in page.url


@pytest.mark.browser
@needs_chromium
def test_keys_change_the_speed_step_and_leave(run: Run, pages: Pages) -> None:
    with open_page(pages, run, "?at=5") as page:
        page.locator('[data-part="bar"]').wait_for()
        page.locator(PLAY).focus()
        page.locator('[data-part="speed"]').select_option("20")
        page.locator(PLAY).focus()
        page.keyboard.press("]")
        expect(page.locator('[data-part="speed"]')).to_have_value("50")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        assert position(page) == 16
        page.keyboard.press("Space")
        expect(page.locator(PLAY)).to_have_text("Pause", use_inner_text=True)
        page.keyboard.press("Escape")
        expect(page.locator('[data-part="bar"]')).to_be_hidden()
        assert "at=" not in page.url
        assert len(drawn(page)) > 5
        expect(page.locator("#replay-votes")).to_be_hidden()


@pytest.mark.browser
@needs_chromium
def test_with_reduced_motion_it_moves_by_the_second_and_texts_come_whole(run: Run, pages: Pages) -> None:
    with open_page(pages, run, "?at=3", reduced_motion="reduce") as page:
        page.locator('[data-part="bar"]').wait_for()
        page.evaluate(
            "new MutationObserver((changes) => { window.changes = (window.changes ?? 0) + 1; })"
            ".observe(document.querySelector('[data-part=\"votes\"]'), { childList: true })"
        )
        page.locator('[data-part="speed"]').select_option("5")
        page.locator(PLAY).click()
        page.wait_for_timeout(2400)
        assert 1 <= page.evaluate("window.changes ?? 0") <= 3


@pytest.mark.browser
@needs_chromium
def test_a_replay_that_cannot_be_loaded_says_so_and_can_be_tried_again(run: Run, pages: Pages) -> None:
    kept = pages.answers.pop(f"/runs/{run.public_id}/replay.json")
    with open_page(pages, run) as page:
        page.locator(START).click()
        page.locator('[data-replay] [data-part="trouble"]').wait_for()
        expect(page.locator('[data-replay] [data-part="trouble"]')).to_contain_text("could not be loaded", use_inner_text=True)
        pages.answers[f"/runs/{run.public_id}/replay.json"] = kept
        page.locator(START).click()
        page.locator('[data-part="bar"]').wait_for()
