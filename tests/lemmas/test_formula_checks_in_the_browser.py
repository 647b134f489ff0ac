"""The formula check in a real browser: marks survive typesetting, the graph has its sign, nothing is hard to read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.runs.models import Run
from tests.lemmas.checked import checked, checked_story, finding
from tests.lemmas.factory import make_story_run
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
GRAPH = "document.querySelector('[data-lemma-graph]').lemmaGraph"
PATHS = ("lemmas/s1.9/", "lemmas/s0.7/", "proofs/1/", "graph/", "graph.json", "graph/outline/")


@pytest.fixture
def run() -> Run:
    """The story with checks; one of them refutes a lemma that is undecided by votes."""
    return make_story_run([*checked_story(), checked("s1.12", finding("s1.12", "statement", "16 \\mid a^4 - 1", "refuted"))])


@pytest.fixture
def pages(client_for: Callable[[User | None], Client], alice: User, run: Run) -> Pages:
    client, base = client_for(alice), f"/runs/{run.public_id}/"
    return Pages({base + path: client.get(base + path) for path in PATHS})  # type: ignore[misc]


@contextmanager
def opened(pages: Pages, path: str, **options: Any) -> Iterator[Page]:
    """A page without a complaint of a script or of the content policy."""
    trouble: list[str] = []
    with browser_page(pages, **options) as page:
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda line: trouble.append(line.text) if "Content Security Policy" in line.text else None)
        page.goto(path)
        yield page
    assert trouble == []


def test_a_refuted_formula_is_typeset_and_stays_marked(pages: Pages, run: Run) -> None:
    with opened(pages, f"/runs/{run.public_id}/lemmas/s1.9/") as page:
        marked = page.locator(".lemma__statement .marked--refuted")
        marked.locator(".katex").wait_for()
        assert marked.evaluate("element => getComputedStyle(element).borderBottomStyle") == "dashed"
        assert "✕" in marked.evaluate("element => getComputedStyle(element, '::after').content")
        expect(page.locator(".finding--refuted")).to_be_visible()
        check = page.locator("details", has_text="1 formula refuted")
        assert check.get_attribute("open") is not None
        check.locator(".checked .katex").first.wait_for()


def test_what_survived_is_folded_away_until_asked_for(pages: Pages, run: Run) -> None:
    with opened(pages, f"/runs/{run.public_id}/lemmas/s0.7/") as page:
        summary = page.get_by_text("1 formula survived its tests")
        expect(page.locator(".checked")).not_to_be_visible()
        summary.press("Enter")
        expect(page.locator(".checked")).to_be_visible()
        expect(page.locator(".checked")).to_contain_text("60 tests", use_inner_text=True)


def test_the_drawing_has_a_sign_where_a_formula_is_refuted(pages: Pages, run: Run) -> None:
    with opened(pages, f"/runs/{run.public_id}/graph/") as page:
        page.locator("[data-lemma-graph] canvas").first.wait_for(state="attached")
        page.wait_for_timeout(300)
        page.evaluate(f"{GRAPH}.ready")
        signs = (
            f"{GRAPH}.view.cy.nodes().filter((node) => node.data('signs').includes('refuted')).map((node) => node.id()).sort()"
        )
        assert page.evaluate(signs) == ["proof/1", "s1.12", "s1.9"]
        page.evaluate(f"{GRAPH}.view.cy.zoom(1)")
        images = [
            str(page.evaluate(f"{GRAPH}.view.cy.getElementById('{name}').style('background-image')"))
            for name in ("s1.9", "s0.7")
        ]
        assert [image.count("M2.5%204.6") for image in images] == [1, 0], "only a refuted lemma has the sign"
        page.locator("summary", has_text="Legend").click()
        expect(page.get_by_text("a formula in it is refuted")).to_be_visible()


@needs_axe
@pytest.mark.parametrize("path", ["lemmas/s1.9/", "proofs/1/"])
def test_a_telephone_shows_it_whole_and_axe_finds_nothing(pages: Pages, run: Run, path: str) -> None:
    with opened(pages, f"/runs/{run.public_id}/{path}", viewport={"width": 390, "height": 800}) as page:
        page.locator(".marked--refuted .katex").first.wait_for()
        assert faults_in_both_themes(page, all_of_them=True) == []
