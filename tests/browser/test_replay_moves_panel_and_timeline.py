"""Panel, timeline and graph of a replay show a moment of the run, and its end when the replay is left."""

from collections.abc import Callable

import pytest
from django.test import Client
from playwright.sync_api import expect

from apps.accounts.models import User
from apps.runs.models import Run
from tests.browser.run_pages import RunPages
from tests.explorations.factory import make_exploration
from tests.explorations.test_replay import open_page, place_of
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture
def run(alice: User) -> Run:
    return make_exploration(alice)


def test_the_panel_shows_a_lemma_as_it_was_judged_then(
    client_for: Callable[[User | None], Client], alice: User, run: Run
) -> None:
    before, voted = place_of(run, "lemma.proposed") - 1, place_of(run, "vote.cast")
    lemma = run.events.get(seq=voted).body["subject"]
    address = f"?tab=lemma&lemma={lemma}&at={before}"
    wanted = [address, *(f"panel/?tab=lemma&lemma={lemma}&at={at}" for at in (before, voted))]
    pages = RunPages(client_for(alice), run, wanted)
    pages.answers[f"/runs/{run.public_id}/panel/"] = client_for(alice).get(  # type: ignore[assignment]
        f"/runs/{run.public_id}/panel/", {"tab": "lemma", "lemma": lemma}, headers={"HX-Request": "true"}
    )
    with open_page(pages, run, address) as page:
        panel = page.locator("#panel")
        panel.get_by_text(f"Lemma {lemma} has not been proposed yet.").wait_for()
        page.locator('[data-replay] [data-part="scrub"]').fill(str(voted))
        panel.locator(f'[data-until="{voted}"]').wait_for()
        expect(panel.locator("details.vote")).to_have_count(1)
        expect(panel.get_by_text("Waiting for votes")).to_be_visible()
        page.locator('[data-action="leave"]').click()
        panel.locator("[data-tab-shown]:not([data-until])").wait_for()
        assert panel.locator("details.vote").count() > 1
        assert "as-of" not in panel.inner_html()


def test_the_bars_of_the_timeline_count_the_calls_of_then(
    client_for: Callable[[User | None], Client], alice: User, run: Run
) -> None:
    began, ended = place_of(run, "call.began"), place_of(run, "call.ended")
    first = run.events.get(seq=began).body
    name = f"{first['rollout']}/{first['round']}/{first['role']}"
    with open_page(RunPages(client_for(alice), run), run, f"?at={began}") as page:
        page.locator('[data-part="bar"]').wait_for()
        expect(page.locator("[data-step]:visible .rounds__count")).to_have_text("0/1 calls")
        page.locator(".rounds__strip").click()
        bar = page.locator(f'[data-bar="{name}"]')
        bars = page.locator("#run-timeline [data-bar]:visible")
        expect(bar.locator(".phase__count")).to_have_text("0/1", use_inner_text=True)
        assert bars.count() == 1
        expect(page.locator(".phases__sum:visible")).to_have_count(0)
        page.locator('[data-replay] [data-part="scrub"]').fill(str(ended))
        expect(bar.locator(".phase__count")).to_have_text("done", use_inner_text=True)
        expect(page.locator("th[data-now]")).to_have_count(1)
        page.locator('[data-action="leave"]').click()
        expect(bars).to_have_count(page.locator("#run-timeline [data-bar]").count())
        expect(page.locator(".phases__sum").first).to_be_visible()


def test_time_and_calls_are_those_of_then(client_for: Callable[[User | None], Client], alice: User, run: Run) -> None:
    began = place_of(run, "call.began")
    with open_page(RunPages(client_for(alice), run), run, f"?at={began}") as page:
        page.locator('[data-part="bar"]').wait_for()
        used = {name: page.locator(f'[data-meter="{name}"] [data-part="used"]') for name in ("seconds", "calls")}
        expect(used["calls"]).to_have_text("0", use_inner_text=True)
        expect(page.locator(".graph__empty")).to_have_text("No lemmas at this moment of the run.")
        page.locator('[data-replay] [data-part="scrub"]').fill(str(run.last_seq))
        assert int(used["calls"].inner_text().replace(",", "")) > 0
        shown = page.locator('[data-part="where"]').inner_text()
        assert shown.startswith(used["seconds"].inner_text())
