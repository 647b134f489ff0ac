"""What the page of each scaffold is about, as a reader sees it in a browser: played by scripted models, no server."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from django.test import Client
from playwright.sync_api import Locator, Page, expect

from apps.accounts.models import User
from apps.reasoning.domain.generation import GenerationRequest
from apps.runs.models import Run
from tests.browser.run_pages import RunPages, played
from tests.explorations.test_conversations_of_a_run import played as played_agents
from tests.explorations.test_replay import drawn, open_page, place_of
from tests.explorations.test_solutions_of_a_run import nomos
from tests.reasoning.candidates import FAIL, PASS, better, named, score
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium, pytest.mark.django_db(transaction=True)]
Opened = Callable[..., AbstractContextManager[Page]]
GRAPH = "document.querySelector('[data-lemma-graph]').lemmaGraph"


@pytest.fixture
def opened(client_for: Callable[[User | None], Client], alice: User) -> Opened:
    """Open the page of a run as a researcher."""

    @contextmanager
    def opening(run: Run, query: str = "") -> Iterator[Page]:
        with open_page(RunPages(client_for(alice), run), run, query) as page:
            yield page

    return opening


def texts(found: Locator) -> list[str]:
    return [" ".join(text.split()) for text in found.all_inner_texts()]


def narrow(page: Page) -> list[str]:
    """What reaches over the edge of a telephone, everything opened."""
    page.set_viewport_size({"width": 390, "height": 844})
    for details in page.locator("#run-solutions details").all():
        details.evaluate("(one) => { one.open = true; }")
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('#run-solutions *')]"
        ".filter((one) => !one.closest('.scroll-x, pre, .katex, .visually-hidden')"
        " && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 120))"
    )
    return found


def test_reasoning_cache_goes_turn_by_turn_with_what_changed_in_the_state(opened: Opened) -> None:
    def answer(request: GenerationRequest) -> str:
        word = {"1": "parity", "2": "descent", "3": "symmetry"}[request.key.split("/")[1]]
        return f"<state>We know that it holds by {word}.</state>" if request.role == "summarizer" else named(request)

    run = played("reasoning_cache", answer, "paper")
    with opened(run) as page:
        assert texts(page.locator("#run-solutions h2")) == ["Turn 1", "Turn 2", "Turn 3"]
        assert texts(page.locator("#run-timeline .rounds__title"))[:3] == ["Turn 1", "Turn 2", "Turn 3"]
        handed = page.locator('[data-moment="state 2"]')
        assert (handed.locator("del").inner_text(), handed.locator("ins").inner_text()) == ("parity", "descent")
        expect(page.locator('[data-moment="state 3"]')).to_have_count(0)
        assert narrow(page) == []


def test_self_check_is_a_conversation_that_ends_with_a_streak(opened: Opened) -> None:
    answers = {"check/1": FAIL, "check/2": PASS, "check/3": PASS}
    run = played("self_check", lambda request: answers.get(request.key) or named(request))
    with opened(run) as page:
        titles = texts(page.locator(".exchange__turn h3"))
        assert [title.split()[0] for title in titles] == [
            "Solver", "Improver", "Verifier", "Corrector", "Verifier", "Verifier", "The"
        ]  # fmt: skip
        assert texts(page.locator(".streak")) == ["1 failure in a row of 4", "1 pass in a row of 2", "2 passes in a row of 2"]
        expect(page.locator(".exchange__turn--end")).to_contain_text("accepted", use_inner_text=True)


def test_a_conversation_of_three_shows_streaks_corrections_and_what_could_not_be_read(opened: Opened) -> None:
    answers = {
        "check/1": FAIL,
        "correct/1": "I like turtles.",
        "check/2": FAIL,
        "check/3": "Hm.",
        "check/4": PASS,
        "check/5": PASS,
    }
    run = played("solver_verifier_corrector", lambda request: answers.get(request.key.removesuffix("/again")) or named(request))
    with opened(run) as page:
        titles = texts(page.locator(".exchange__turn h3"))
        assert titles[0] == "Solver writes c1.1"
        assert titles[1] == "Verifier of the solver on c1.1"
        assert titles[2] == "Corrector of the solver"
        expect(page.locator(".exchange__turn").nth(2)).to_contain_text("not read", use_inner_text=True)
        assert titles[4].endswith("writes c3.1 selected")
        marks = page.locator(".exchange__check")
        assert (marks.first.get_attribute("class") or "").endswith("vote__mark--fault")
        assert texts(marks)[2].startswith("Check 3, of c3.1: not read")
        marks.nth(1).click()
        turn = page.locator(page.url.partition("#")[2].join(["#", ""]))
        expect(turn).to_contain_text("It does not follow.", use_inner_text=True)
        expect(turn).to_contain_text("2 failures in a row of 4", use_inner_text=True)
        changes = page.locator('[data-keep="changes c3.1"]')
        changes.locator("summary").click()
        expect(changes.locator("ins").first).to_be_visible()
        assert narrow(page) == []


@needs_axe
def test_axe_finds_nothing_wrong_with_a_conversation_and_a_memory(opened: Opened) -> None:
    answers = {"check/1": FAIL, "correct/1": "I like turtles.", "check/2": "Hm.", "check/3": PASS, "check/4": PASS}
    talk = played("self_check", lambda request: answers.get(request.key) or named(request))
    for run in (talk, played_agents()):
        with opened(run) as page:
            assert faults_in_both_themes(page, all_of_them=True) == []


def test_the_replay_of_a_conversation_goes_turn_by_turn(opened: Opened) -> None:
    answers = {"check/1": FAIL, "check/2": PASS, "check/3": PASS}
    run = played("solver_verifier_corrector", lambda request: answers.get(request.key.removesuffix("/again")) or named(request))
    judged, drafted = place_of(run, "candidate.judged"), place_of(run, "candidate.drafted", 1)
    with opened(run, f"?at={judged}") as page:
        page.locator('[data-part="bar"]').wait_for()
        shown = page.locator(".exchange__turn:visible")
        assert shown.count() == 2
        page.locator('[data-part="scrub"]').fill(str(drafted))
        assert texts(shown.locator("h3"))[-1].endswith("writes c2.1")
        page.locator('[data-action="leave"]').click()
        assert shown.count() == page.locator(".exchange__turn").count() == 6


def test_nomos_shows_marks_groups_and_the_bracket(opened: Opened) -> None:
    with opened(played("nomos", nomos)) as page:
        page.evaluate(f"{GRAPH}.ready")
        assert "pair/1/c1.2/c1.1" in " ".join(drawn(page)) or "pair/1/c1.1/c1.2" in " ".join(drawn(page))
        expect(page.locator('[data-moment="groups"] li').first).to_contain_text(
            "judged most likely correct", use_inner_text=True
        )
        row = page.locator("tr[data-pair]")
        expect(row.locator("strong")).to_have_text("c1.2", use_inner_text=True)
        expect(row).to_contain_text("first", use_inner_text=True)
        expect(page.locator("#c1\\.2").get_by_text("mean 7 of 7")).to_be_visible()
        assert narrow(page) == []


def test_rsa_draws_how_each_step_comes_from_subsets_of_the_one_before(opened: Opened) -> None:
    run = played("rsa", lambda request: better("B") if request.role == "judge" else named(request))
    with opened(run) as page:
        page.evaluate(f"{GRAPH}.ready")
        edges = page.evaluate(f"{GRAPH}.view.cy.edges('.uses').map((edge) => [edge.data('source'), edge.data('target')])")
        assert {source[:2] for source, target in edges if target.startswith("c2.")} == {"c1"}
        expect(page.locator("#run-solutions h2").first).to_have_text("Step 1", use_inner_text=True)
        page.locator('[data-part="focus"]').select_option("proof")
        shown, _, of = page.locator('[data-part="count"]').inner_text().partition(" of ")
        assert 0 < int(shown.split()[0]) <= int(of.split()[0] if of else shown.split()[0])


def test_grouped_agents_draw_what_was_corrected_and_show_verdicts_without_streaks(opened: Opened) -> None:
    def answer(request: GenerationRequest) -> str:
        if not request.role.startswith("verifier"):
            return named(request)
        return FAIL if request.key.endswith("/1") else PASS

    run = played("grouped_agents", answer)
    with opened(run) as page:
        page.evaluate(f"{GRAPH}.ready")
        edges = page.evaluate(f"{GRAPH}.view.cy.edges('.uses').map((edge) => [edge.data('source'), edge.data('target')])")
        assert {source[:2] for source, target in edges if target.startswith("c2.")} == {"c1"}
        expect(page.locator("#run-solutions").get_by_text("pass", exact=True).first).to_be_visible()
        assert "in a row" not in page.locator("#run-solutions").inner_text()
        assert narrow(page) == []


def test_deepseek_math_shows_a_pool_with_scores_and_parents(opened: Opened) -> None:
    def answer(request: GenerationRequest) -> str:
        if request.role == "evaluator":
            return score(1 if "c2.1" in request.key else 0.5 if request.key.endswith("1") else 0)
        return score(1) if request.role == "meta_verifier" else f"{named(request)}\n<own-score>1</own-score>"

    run = played("deepseek_math", answer)
    with opened(run) as page:
        page.evaluate(f"{GRAPH}.ready")
        assert page.evaluate(f"{GRAPH}.view.cy.edges('.uses').length") > 0
        best = page.locator("#c2\\.1")
        expect(best).to_contain_text("mean 1 of 1", use_inner_text=True)
        expect(best).to_contain_text("own value 1", use_inner_text=True)
        assert "refined from c1." in " ".join(best.inner_text().split())
        report = best.locator('[data-keep^="opinion "]').first
        report.locator("summary").click()
        expect(report).to_contain_text("I looked at every step.", use_inner_text=True)
        assert narrow(page) == []


def test_alpha_apollo_shows_rounds_and_what_each_is_shown_of_the_memory(opened: Opened) -> None:
    run = played_agents()
    with opened(run) as page:
        page.evaluate(f"{GRAPH}.ready")
        assert {"c1.1", "memory/1", "c2.1"} <= set(drawn(page))
        pairs = page.evaluate(
            f"{GRAPH}.view.cy.edges().map((edge) => [edge.data('source'), edge.data('target'), edge.hasClass('redundant')])"
        )
        assert ["c1.1", "memory/1", False] in pairs
        assert ["memory/1", "c2.1", False] in pairs
        assert ["c1.1", "c2.1", True] in pairs
        page.evaluate(f"{GRAPH}.view.select('memory/1', {{ tell: true }})")
        expect(page.locator("[id='memory/1']")).to_contain_text("judged incorrect, 0 of 2", use_inner_text=True)
        turns = page.locator(".talk__turn")
        expect(turns.first).to_contain_text("Repaired before it ran", use_inner_text=True)
        assert turns.first.locator('pre[aria-label="Tool response"]').inner_text().strip() != ""
        expect(page.locator("[data-moment=tools]")).to_contain_text("2 of 3", use_inner_text=True)
        judged = page.locator("#c1\\.1")
        expect(judged.locator(".solution__opinions")).to_have_count(0)
        expect(judged.locator("[data-keep^='talk ']").first.locator("summary")).to_contain_text(
            "incorrect", use_inner_text=True
        )
        assert narrow(page) == []
