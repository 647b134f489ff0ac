"""Experiments and graded sets in a browser: readable where nearly everything is unscored, on a telephone, light and dark."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from apps.accounts.models import User
from tests.browser.test_pages_of_gradings import WIDE
from tests.experiments.driving import Stage, make_experiment, make_set
from tests.experiments.solving.playing import begin, make_problem_set
from tests.grading.test_grade_command import MODELS
from tests.ui.axe import faults_in_both_themes
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]
ClientFor = Callable[[User | None], Client]
TOO_WIDE = WIDE.replace(".scroll-x,", ".scroll-x, .tabs,")  # Tabs scroll.


@pytest.fixture
def addresses(alice: User, settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Pages about an experiment whose model writes no grading at all, as a very small one does."""
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    stage = Stage(monkeypatch, {"*": "The proof is the proof of the proof. " * 40})
    graded_set = make_set(6, problems=2, title="Scripts that people graded")
    graded_set.scripts.filter(position=6).update(problem=None)
    lost = {"words": "Far out.", "category": "Other", "quote": "", "start": None, "end": None, "lost": "no position given"}
    found = lost | {"words": "This proves nothing.", "start": 60, "end": 80, "lost": "", "quote": "it is even"}
    graded_set.scripts.filter(position=1).update(issues=[found, lost])
    experiment = stage.play(make_experiment(alice, graded_set, "single_turn", "ref5_plain"))
    script = graded_set.scripts.get(position=1)
    problems = make_problem_set(6)
    scorers = [{"name": "answer", "kind": "answer"}, {"name": "own", "kind": "accepted"}]
    methods = [{"name": "single", "scaffold": "single_call"}, {"name": "vote of two", "scaffold": "majority_vote"}]
    solving = stage.play(begin(alice, methods=methods, scorers=scorers, baseline="single"))
    return [
        reverse("experiments:detail", args=[experiment.public_id]),
        reverse("experiments:detail", args=[experiment.public_id]) + "?show=failed",
        reverse("experiments:list"),
        reverse("experiments:new"),
        reverse("graded_sets:list"),
        reverse("graded_sets:detail", args=[graded_set.public_id]),
        reverse("graded_sets:script", args=[graded_set.public_id, script.public_id]),
        reverse("graded_sets:import"),
        reverse("experiments:detail", args=[solving.public_id]),
        reverse("experiments:cells", args=[solving.public_id]),
        reverse("experiments:compare", args=[solving.public_id]),
        reverse("experiments:ablations", args=[solving.public_id]),
        reverse("experiments:endings", args=[solving.public_id]),
        reverse("experiments:solving_new"),
        reverse("problem_sets:list"),
        reverse("problem_sets:detail", args=[problems.problem_set.slug]),
        reverse("problem_sets:import"),
        reverse("problem_sets:from_library"),
    ]


def test_pages_have_no_serious_fault_and_fit_a_telephone(
    addresses: list[str], alice: User, client_for: ClientFor, tmp_path: Path
) -> None:
    client = client_for(alice)
    pages = Pages({address: client.get(address) for address in addresses})  # type: ignore[misc]
    with browser_page(pages, bypass_csp=True) as page:
        for number, address in enumerate(addresses):
            page.set_viewport_size({"width": 1200, "height": 900})
            page.goto(address)
            assert faults_in_both_themes(page) == []
            page.screenshot(path=tmp_path / f"{number}.png", full_page=True)
            page.set_viewport_size({"width": 390, "height": 844})
            for details in page.locator("main details:not(.menu)").all():
                details.evaluate("(one) => { one.open = true; }")
            assert page.evaluate(TOO_WIDE) == []
            page.screenshot(path=tmp_path / f"{number}-narrow.png", full_page=True)


def test_where_nothing_can_be_read_the_page_says_so_and_shows_no_zero(
    addresses: list[str], alice: User, client_for: ClientFor
) -> None:
    client = client_for(alice)
    pages = Pages({address: client.get(address) for address in addresses[:1]})  # type: ignore[misc]
    with browser_page(pages) as page:
        page.goto(addresses[0])
        rows = page.locator("#experiment tbody tr")
        assert rows.count() == 12
        assert rows.get_by_text("unscored", exact=True).count() == 10
        assert rows.get_by_text("failed", exact=True).count() == 2
        assert rows.get_by_text("0 of 7", exact=True).count() == 2  # What people gave the first script.
        page.get_by_role("link", name="unscored").first.focus()
        assert page.evaluate("document.activeElement.textContent").startswith("unscored")


def test_it_refreshes_itself_but_not_while_a_user_types(
    alice: User, client_for: ClientFor, settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    Stage(monkeypatch, {})
    experiment = make_experiment(alice, make_set(2))
    address = reverse("experiments:detail", args=[experiment.public_id])
    pages = Pages({one: client_for(alice).get(one) for one in [address]})  # type: ignore[misc]
    with browser_page(pages) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if "hx-request" in request.headers else None)
        page.goto(address)
        search = page.get_by_label("Search the results")
        search.fill("S")
        page.wait_for_timeout(4_000)
        assert asked == []
        expect(search).to_have_value("S")
        with page.expect_request(lambda request: "hx-request" in request.headers):
            search.blur()
