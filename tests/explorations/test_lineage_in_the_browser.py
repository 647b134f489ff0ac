"""The lineage of solutions in a browser: drawn as lemmas are, tied to the cards, and replayed."""

from collections.abc import Callable

import pytest
from django.test import Client
from playwright.sync_api import expect

from apps.accounts.models import User
from apps.reasoning.domain.candidate_events import PairDecided
from apps.reasoning.domain.check_events import FormulasChecked
from apps.reasoning.domain.tools import MathAnchor, MathCounterexample, MathFinding
from apps.runs.models import Run, RunStatus
from tests.explorations.test_lineage_of_solutions import drafted, lineage_after, scored
from tests.explorations.test_replay import drawn, open_page
from tests.runs.factory import make_run
from tests.ui.browser import Pages, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
GRAPH = "document.querySelector('[data-lemma-graph]').lemmaGraph"


@pytest.fixture
def run(db: None) -> Run:
    """Two solutions, two made from them, and their knock-out; event 1 made the run."""
    run = make_run(scaffold="rsa")
    lineage_after(
        run, drafted("c1.1"), drafted("c1.2"), scored("c1.1", 1, 1), drafted("c2.1", "c1.1", "c1.2"), drafted("c2.2", "c1.2"),
        PairDecided(round=1, pair=("c2.1", "c2.2"), winner="c2.2", by="seed"),
    )  # fmt: skip
    run.status = RunStatus.FINISHED
    run.outcome = {"accepted": None, "proof": "", "reason": "Made for a test.", "ended_by": "exhausted"}
    run.save()
    return run


@pytest.fixture
def pages(client_for: Callable[[User | None], Client], alice: User, run: Run) -> Pages:
    return pages_of(client_for, alice, run)


def pages_of(client_for: Callable[[User | None], Client], alice: User, run: Run) -> Pages:
    client, base = client_for(alice), f"/runs/{run.public_id}/"
    answers = {base + path: client.get(base + path) for path in ("", "lineage.json", "replay.json", "lineage/outline/")}
    parts = ("header/", "timeline/", "solutions/")
    answers |= {base + path: client.get(base + path, headers={"HX-Request": "true"}) for path in parts}
    return Pages(answers)  # type: ignore[arg-type]  # The client's answers are HttpResponse objects.


def test_solutions_and_their_pair_are_drawn_and_a_choice_marks_the_card(run: Run, pages: Pages) -> None:
    with open_page(pages, run) as page:
        page.evaluate(f"{GRAPH}.ready")
        assert drawn(page) == ["problem", "c1.1", "c1.2", "c2.1", "c2.2", "pair/1/c2.1/c2.2"]
        page.locator('[data-part="outline"]').evaluate("(part) => { part.closest('details').open = true; }")
        page.locator('[data-part="outline"] [data-node="c2.1"]').click()
        assert "solution--chosen" in (page.locator("#c2\\.1").get_attribute("class") or "")
        assert page.evaluate(f"{GRAPH}.view.selected") == "c2.1"
        page.locator("summary", has_text="Legend").click()
        expect(page.locator('[data-part="legend"]')).to_contain_text("lost the pair", use_inner_text=True)


def test_the_replay_brings_cards_and_nodes_back_one_by_one(run: Run, pages: Pages) -> None:
    with open_page(pages, run, "?at=4") as page:
        page.locator('[data-part="bar"]').wait_for()
        page.wait_for_timeout(300)
        assert drawn(page) == ["problem", "c1.1", "c1.2"]
        expect(page.locator("#c1\\.2")).to_be_visible()
        expect(page.locator("#c2\\.1")).to_be_hidden()
        expect(page.locator("#knock-out")).to_be_hidden()
        expect(page.locator("#replay-votes")).to_contain_text("Solution c1.1", use_inner_text=True)
        page.locator('[data-part="scrub"]').focus()
        page.keyboard.press("End")
        page.wait_for_timeout(300)
        assert len(drawn(page)) == 6
        expect(page.locator("#knock-out")).to_be_visible()


@pytest.fixture
def refuted(db: None) -> Run:
    """A solution, then a second one, and only then the check that refutes a formula of the first."""
    run = make_run(scaffold="rsa")
    anchor = MathAnchor(start=8, end=17, quote="2 + 2 = 5")
    example = MathCounterexample(values={}, left="4", right="5")
    found = MathFinding(text_id="step 1", anchor=anchor, kind="arithmetic", outcome="refuted", tests=1, counterexample=example)
    check = FormulasChecked(subject="c1.1", outcome="refuted", findings=(found,), refuted=1, call="check/c1.1")
    lineage_after(run, drafted("c1.1", text="We see $2 + 2 = 5$."), drafted("c1.2"), check)
    run.status, run.outcome = RunStatus.FINISHED, {"accepted": None, "proof": "", "reason": "A test.", "ended_by": "exhausted"}
    run.save()
    return run


def test_the_replay_shows_the_check_of_a_solution_from_its_event_on(
    client_for: Callable[[User | None], Client], alice: User, refuted: Run
) -> None:
    with open_page(pages_of(client_for, alice, refuted), refuted, "?at=3") as page:
        page.locator('[data-part="bar"]').wait_for()
        card = page.locator("#c1\\.1")
        card.get_by_text("The solution, 1 step").click()
        said = card.locator(".solution__check, .finding--refuted")
        sign = "[...document.querySelectorAll('.marked--refuted')].map((one) => getComputedStyle(one).borderBottomStyle)"
        assert (said.count(), card.locator(":is(.solution__check, .finding--refuted):visible").count()) == (2, 0)
        assert page.evaluate(sign) == ["none"]
        page.locator('[data-part="scrub"]').fill("4")
        expect(said.first).to_be_visible()
        expect(said.last).to_be_visible()
        assert page.evaluate(sign) == ["dashed"]
