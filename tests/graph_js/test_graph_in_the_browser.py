"""The lemma graph in a real browser: drawing, choosing, focus, growth, keyboard, accessibility."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

import pytest
from django.http import HttpResponse, JsonResponse
from django.test import Client
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.runs.models import Run
from tests.lemmas.factory import make_story_run
from tests.node import facts
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import Pages, browser_page, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
GRAPH = "document.querySelector('[data-lemma-graph]').lemmaGraph"
LEMMAS = ("s0.1", "s0.2", "s0.6", "s0.7", "s0.8", "s1.12")


@pytest.fixture
def run(alice: User) -> Run:
    return make_story_run()


@pytest.fixture
def pages(client_for: Callable[[User | None], Client], alice: User, run: Run) -> Pages:
    client, base = client_for(alice), f"/runs/{run.public_id}/"
    answers = {base + path: client.get(base + path) for path in ("graph/", "graph.json", "graph/outline/")}
    for name in LEMMAS:
        answers[f"{base}lemmas/{name}/"] = client.get(f"{base}lemmas/{name}/", headers={"HX-Request": "true"})
    answers[f"{base}proofs/2/"] = client.get(f"{base}proofs/2/", headers={"HX-Request": "true"})
    return Pages(answers)  # type: ignore[arg-type]  # The client's answers are HttpResponse objects.


@contextmanager
def graph_page(pages: Pages, run: Run, query: str = "", **options: Any) -> Iterator[Page]:
    """The page of the graph with its first data drawn; script errors and violations of the content policy fail the test."""
    trouble: list[str] = []
    with browser_page(pages, **options) as page:
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda line: trouble.append(line.text) if "Content Security Policy" in line.text else None)
        page.goto(f"/runs/{run.public_id}/graph/{query}")
        wait_until(page, f"Boolean({GRAPH}?.ready)")
        page.evaluate(f"{GRAPH}.ready")
        page.evaluate(f"{GRAPH}.view.improved")
        yield page
        assert trouble == []  # Closing a page aborts its requests, which is not a script error.


def wait_until(page: Page, expression: str) -> None:
    """Wait until a JavaScript expression is true; Playwright's own function needs `eval`, which the pages forbid."""
    for _ in range(100):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never became true: {expression}")


def click_node(page: Page, name: str) -> None:
    box = page.evaluate(f"{GRAPH}.view.cy.getElementById({json.dumps(name)}).renderedBoundingBox({{includeLabels: false}})")
    frame = page.locator('[data-part="canvas"]').bounding_box()
    assert frame
    page.mouse.click(frame["x"] + (box["x1"] + box["x2"]) / 2, frame["y"] + (box["y1"] + box["y2"]) / 2)


def seeded(pages: Pages, run: Run, size: int, after: int = 0) -> None:
    """Replace the run's graph by a generated one."""
    graph = facts("print_graph.mjs", str(size), str(after))
    answer: HttpResponse = JsonResponse(graph | {"base": f"/runs/{run.public_id}/"})
    pages.answers[f"/runs/{run.public_id}/graph.json"] = answer


def test_a_click_on_a_node_opens_its_panel_and_marks_the_outline(pages: Pages, run: Run) -> None:
    with graph_page(pages, run) as page:
        click_node(page, "s0.7")
        page.wait_for_selector('[data-panel] [data-lemma="s0.7"]')
        assert page.get_attribute(".outline__row[aria-current]", "data-node") == "s0.7"
        assert "node=s0.7" in page.url


def test_an_address_with_a_node_and_a_focus_opens_there(pages: Pages, run: Run) -> None:
    with graph_page(pages, run, "?node=s0.7&focus=ancestors") as page:
        page.wait_for_selector('[data-panel] [data-lemma="s0.7"]')
        assert page.input_value('[data-part="focus"]') == "ancestors"
        assert page.inner_text('[data-part="count"]') == "3 of 15"


@pytest.mark.parametrize(("mode", "count"), [("proof", "10 of 15"), ("frontier", "3 of 15"), ("round", "5 of 15")])
def test_a_focus_shows_its_part_and_is_kept_in_the_address(pages: Pages, run: Run, mode: str, count: str) -> None:
    with graph_page(pages, run) as page:
        page.select_option('[data-part="focus"]', mode)
        expect(page.locator('[data-part="count"]')).to_have_text(count)
        assert f"focus={mode}" in page.url
        shown = "document.querySelectorAll('[data-part=outline] li:not([hidden])').length"
        assert page.evaluate(f"{GRAPH}.view.cy.nodes(':visible').length") == int(count.split()[0]) + 1
        assert page.evaluate(shown) == int(count.split()[0])
        page.select_option('[data-part="focus"]', "all")
        wait_until(page, f"{GRAPH}.view.cy.nodes(':visible').length === 16")


def test_a_part_is_laid_out_for_itself_and_the_whole_comes_back_to_its_places(pages: Pages, run: Run) -> None:
    with graph_page(pages, run) as page:
        before = page.evaluate(f"{GRAPH}.view.positions()")
        zoom = page.evaluate(f"{GRAPH}.view.cy.zoom()")
        page.evaluate(f"{GRAPH}.focus('ancestors', 's0.7')")
        wait_until(page, f"{GRAPH}.view.cy.nodes(':visible').length === 4")
        assert page.evaluate(f"{GRAPH}.view.positions()") != before
        assert page.evaluate(f"{GRAPH}.view.cy.zoom()") >= zoom
        page.evaluate(f"{GRAPH}.focus('all')")
        wait_until(page, f"{GRAPH}.view.cy.nodes(':visible').length === 16")
        assert page.evaluate(f"{GRAPH}.view.positions()") == before


def test_rejected_and_merged_lemmas_can_be_hidden(pages: Pages, run: Run) -> None:
    merged = f"[...{GRAPH}.view.graph.nodes.values()].filter(({{status}}) => ['merged', 'retired'].includes(status)).length"
    with graph_page(pages, run) as page:
        gone = page.evaluate(merged)
        assert gone
        page.click("summary:has([data-part=hidden-count])")
        page.check('[data-hide="merged"]')
        expect(page.locator('[data-part="count"]')).to_have_text(f"{15 - gone} of 15")
        assert "hide=merged" in page.url
        page.reload()
        expect(page.locator('[data-part="count"]')).to_have_text(f"{15 - gone} of 15")


def test_search_finds_lemmas_by_their_words_and_goes_to_each(pages: Pages, run: Run) -> None:
    with graph_page(pages, run) as page:
        page.focus('[data-part="canvas"]')
        page.keyboard.press("/")
        page.keyboard.type("divides")
        found = page.evaluate(f"{GRAPH}.view.cy.nodes('.found').map((node) => node.id())")
        assert found
        expect(page.locator('[data-part="count"]')).to_have_text(f"{len(found)} found")
        page.keyboard.press("Enter")
        assert page.evaluate(f"{GRAPH}.view.selected") == found[0]
        assert page.evaluate(f"{GRAPH}.view.cy.zoom()") >= 1
        page.keyboard.press("Escape")
        assert page.evaluate(f"{GRAPH}.view.cy.nodes('.found').length") == 0
        page.keyboard.type("no lemma says this")
        expect(page.locator('[data-part="count"]')).to_have_text("0 found")


def test_the_overview_has_a_box_for_each_rollout_and_round_that_opens_it(pages: Pages, run: Run) -> None:
    seeded(pages, run, 90)
    with graph_page(pages, run) as page:
        page.select_option('[data-part="focus"]', "overview")
        wait_until(page, f"{GRAPH}.view.cy.nodes(':visible').length === 16")
        assert page.evaluate(f"{GRAPH}.view.cy.nodes('.cluster')[0].data('text')") == "Round 1, rollout 0: 5 of 6 hold"
        click_node(page, "cluster/2/1")
        expect(page.locator('[data-part="focus"]')).to_have_value("group")
        wait_until(page, f"{GRAPH}.view.cy.nodes('.cluster').length === 0")
        assert page.evaluate(f"{GRAPH}.view.isShown('s1.31')")


def test_boxes_have_titles_from_near_cards_and_from_far_only_their_colour(pages: Pages, run: Run) -> None:
    label = f"{GRAPH}.view.cy.getElementById('s0.7').style('label')"
    with graph_page(pages, run) as page:
        page.evaluate(f"{GRAPH}.view.cy.zoom(0.9)")
        assert page.evaluate(label).startswith("s0.7 ")
        assert page.locator(".graph__card").count() == 0
        page.evaluate(f"({GRAPH}.view.cy.zoom(2), {GRAPH}.view.goTo('s0.7'))")
        page.wait_for_selector(".graph__card:has-text('Lemma s0.7') .katex")
        page.evaluate(f"{GRAPH}.view.cy.zoom(0.2)")
        assert page.evaluate(label) == ""
        expect(page.locator(".graph__card")).to_have_count(0)


def test_a_map_of_the_whole_is_shown_while_a_part_is_outside(pages: Pages, run: Run) -> None:
    seeded(pages, run, 60)
    with graph_page(pages, run) as page:
        minimap = page.locator('[data-part="minimap"]')
        expect(minimap).to_be_hidden()
        page.evaluate(f"{GRAPH}.view.cy.zoom(1.5)")
        expect(minimap).to_be_visible()
        pan = page.evaluate(f"{GRAPH}.view.cy.pan()")
        minimap.click(position={"x": 20, "y": 20})
        assert page.evaluate(f"{GRAPH}.view.cy.pan()") != pan
        page.click('[data-action="fit"]')
        expect(minimap).to_be_hidden()


@pytest.mark.parametrize("size", [14, 60, 520])
def test_fit_shows_every_node(pages: Pages, run: Run, size: int) -> None:
    seeded(pages, run, size)
    with graph_page(pages, run) as page:
        page.evaluate(f"{GRAPH}.view.cy.zoom(3)")
        page.click('[data-action="fit"]')
        outside = f"""() => {{ const {{ cy }} = {GRAPH}.view; return cy.nodes().filter((node) => {{
          const box = node.renderedBoundingBox({{ includeLabels: false, includeUnderlays: false }});
          return box.x1 < 0 || box.y1 < 0 || box.x2 > cy.width() || box.y2 > cy.height(); }}).length; }}"""
        assert page.evaluate(outside) == 0


def test_the_drawing_is_saved_as_svg_with_titles_and_all_lines(pages: Pages, run: Run) -> None:
    with graph_page(pages, run) as page:
        drawn = page.evaluate(f"{GRAPH}.view.cy.edges(':visible').length")
        page.click("summary:has-text('Save')")
        with page.expect_download() as download:
            page.click('[data-action="svg"]')
        root = ElementTree.parse(download.value.path()).getroot()
        lines = root.findall("{http://www.w3.org/2000/svg}polyline")
        assert len(lines) == drawn
        assert any("stroke-dasharray" in line.attrib for line in lines)
        assert "s0.7" in "".join(root.itertext())


def test_one_rollout_can_be_focused(pages: Pages, run: Run) -> None:
    with graph_page(pages, run) as page:
        page.select_option('[data-part="focus"]', "rollout")
        page.select_option('[data-part="rollout"]', "1")
        wait_until(page, f"{GRAPH}.view.cy.nodes(':visible').length < 16")
        shown = page.evaluate(f"{GRAPH}.view.cy.nodes(':visible').map((node) => node.id())")
        assert {name[:3] for name in shown} == {"s1.", "pro"}
        assert "rollout=1" in page.url


def test_links_between_lemmas_move_the_selection(pages: Pages, run: Run) -> None:
    with graph_page(pages, run, "?node=s0.7") as page:
        page.click('[data-panel] a[data-node-link="s0.2"]')
        page.wait_for_selector('[data-panel] [data-lemma="s0.2"]')
        assert page.evaluate(f"{GRAPH}.view.selected") == "s0.2"


def test_arrow_keys_move_through_the_drawing_and_the_outline(pages: Pages, run: Run) -> None:
    with graph_page(pages, run, "?node=s0.7") as page:
        page.focus('[data-part="canvas"]')
        page.keyboard.press("ArrowUp")
        assert page.evaluate(f"{GRAPH}.view.selected") == "s0.2"
        page.keyboard.press("Home")
        assert page.evaluate(f"{GRAPH}.view.selected") == "problem"
        page.keyboard.press("ArrowDown")
        assert page.evaluate(f"{GRAPH}.view.selected") == "s0.1"
        page.keyboard.press("ArrowRight")
        sibling = page.evaluate(f"{GRAPH}.view.selected")
        assert sibling not in {"s0.1", "problem"}
        page.keyboard.press("n")
        assert page.evaluate(f"{GRAPH}.view.graph.nodes.get({GRAPH}.view.selected).confidence") is None
        page.focus('.outline__row[data-node="s0.7"]')
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.dataset.node") == "s0.2"
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.dataset.node") == "s0.7"


@pytest.mark.parametrize("size", [50, 200, 1000])
def test_a_growing_graph_is_drawn_and_its_old_nodes_do_not_move(pages: Pages, run: Run, size: int) -> None:
    seeded(pages, run, size)
    with graph_page(pages, run) as page:
        before = page.evaluate(f"{GRAPH}.view.positions()")
        assert len(before) == size + 1
        seeded(pages, run, size + 20, after=size)
        page.evaluate(f"{GRAPH}.refresh()")
        wait_until(page, f"{GRAPH}.view.cy.nodes().length === {size + 21}")
        after = page.evaluate(f"{GRAPH}.view.positions()")
        assert {name: after[name] for name in before} == before
        click_node(page, "s0.1")
        assert page.evaluate(f"{GRAPH}.view.selected") == "s0.1" or size == 1000


def test_a_lemma_with_slightly_later_uses_is_placed_below_them(pages: Pages, run: Run) -> None:
    whole = facts("print_graph.mjs", "50", "0")
    seeded(pages, run, 44)
    with graph_page(pages, run) as page:
        young = {node["id"] for node in whole["nodes"][-6:]}
        for edges in ([], [edge for edge in whole["edges"] if edge["target"] in young]):
            answer: HttpResponse = JsonResponse({**whole, "base": f"/runs/{run.public_id}/", "edges": edges})
            pages.answers[f"/runs/{run.public_id}/graph.json"] = answer
            page.evaluate(f"{GRAPH}.refresh()")
            wait_until(page, f"{GRAPH}.view.cy.nodes().length === 51 && {GRAPH}.view.graph.edges.size > {len(edges)} - 1")
            page.wait_for_timeout(300)
        at = page.evaluate(f"{GRAPH}.view.positions()")
        assert all(at[edge["source"]][1] < at[edge["target"]][1] for edge in whole["edges"])


def test_a_folded_outline_is_updated(pages: Pages, run: Run) -> None:
    with graph_page(pages, run) as page:
        page.evaluate("document.querySelector('.graph__outline').open = false")
        seeded(pages, run, 62, after=50)
        pages.answers[f"/runs/{run.public_id}/graph/outline/"] = HttpResponse('<a data-node="s0.1">the new outline</a>')
        page.evaluate(f"{GRAPH}.refresh()")
        wait_until(page, "document.querySelector('[data-part=outline]').textContent.includes('the new outline')")


def test_a_moved_drawing_stays_in_place_and_new_lemmas_are_announced(pages: Pages, run: Run) -> None:
    seeded(pages, run, 50)
    with graph_page(pages, run) as page:
        page.hover('[data-part="canvas"]')
        page.mouse.wheel(0, -200)
        page.wait_for_timeout(300)
        pan = page.evaluate(f"{GRAPH}.view.cy.pan()")
        seeded(pages, run, 62, after=50)
        page.evaluate(f"{GRAPH}.refresh()")
        page.wait_for_selector("text=12 new lemmas ↓")
        assert page.evaluate(f"{GRAPH}.view.cy.pan()") == pan
        page.click('[data-part="pill"]')
        assert page.is_hidden('[data-part="pill"]')
        assert page.evaluate(f"{GRAPH}.view.cy.pan()") != pan


def test_many_events_cause_few_requests(pages: Pages, run: Run) -> None:
    with graph_page(pages, run) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if "graph.json" in request.url else None)
        page.evaluate(f"for (let i = 0; i < 200; i += 1) {GRAPH}.refresh()")
        page.wait_for_timeout(900)
        assert 1 <= len(asked) <= 4
        assert all("after=" in url for url in asked)


def test_tidying_lays_out_again_what_has_grown(pages: Pages, run: Run) -> None:
    seeded(pages, run, 50)
    with graph_page(pages, run) as page:
        seeded(pages, run, 80, after=50)
        page.evaluate(f"{GRAPH}.refresh()")
        wait_until(page, f"{GRAPH}.view.cy.nodes().length === 81")
        before = page.evaluate(f"{GRAPH}.view.positions()")
        page.click('[data-action="tidy"]')
        wait_until(
            page, f"JSON.stringify({GRAPH}.view.positions()) !== {json.dumps(json.dumps(before, separators=(',', ':')))}"
        )
        expect(page.locator('[data-part="trouble"]')).to_be_hidden()


def test_the_drawing_follows_the_theme_at_once(pages: Pages, run: Run) -> None:
    with graph_page(pages, run, color_scheme="light") as page:
        edge = f"{GRAPH}.view.cy.edges('.contributes')[0].style('line-color')"
        light = page.evaluate(edge)
        page.emulate_media(color_scheme="dark")
        wait_until(page, f"{edge} !== {json.dumps(light)}")


def test_a_missing_response_is_reported_on_the_page(pages: Pages, run: Run) -> None:
    del pages.answers[f"/runs/{run.public_id}/graph.json"]
    with graph_page(pages, run) as page:
        assert "could not be loaded" in page.inner_text('[data-part="trouble"]')
        expect(page.locator(".outline__row")).to_have_count(15)


def test_a_revised_proof_shows_its_changes_in_both_views(pages: Pages, run: Run) -> None:
    with graph_page(pages, run, "?node=proof/2") as page:
        page.wait_for_selector("[data-panel] ins")
        assert page.inner_text("[data-panel] del").startswith("Hence")
        page.click('[data-diff-view="side"]')
        expect(page.locator("[data-diff-out] .diff")).to_have_count(2)
        expect(page.locator("[data-diff-out] .diff >> nth=0 >> ins")).to_have_count(0)


@needs_axe
def test_axe_reports_no_violations(pages: Pages, run: Run) -> None:
    with graph_page(pages, run, "?node=s0.7") as page:
        page.wait_for_selector('[data-panel] [data-lemma="s0.7"]')
        assert faults_in_both_themes(page, all_of_them=True) == []


def test_a_narrow_page_does_not_scroll_sideways(pages: Pages, run: Run) -> None:
    with graph_page(pages, run, viewport={"width": 390, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_edge_of_a_merged_lemma_moves_to_its_representative_and_no_node_moves(pages: Pages, run: Run) -> None:
    move = f"""() => {{
      const {{ view }} = {GRAPH};
      const before = JSON.stringify(view.positions());
      const edge = {{ ...view.graph.edges.get("uses:s0.3>s0.8"), source: "s0.2" }};
      const lists = {{ contributing: [...view.graph.contributing], redundant: [], frontier: [], rollouts: 2 }};
      const whole = view.graph;
      const then = {{ ...whole, edges: new Map(whole.edges) }};
      const drawn = () => view.cy.getElementById(edge.id).source().id();
      const sources = [drawn()];
      view.applyDelta({{ nodes: [], edges: [edge], ...lists }});
      sources.push(drawn());
      view.asOf(then);
      sources.push(drawn());
      view.asOf(null);
      return [...sources, drawn(), before === JSON.stringify(view.positions())];
    }}"""
    with graph_page(pages, run) as page:
        assert page.evaluate(move) == ["s0.3", "s0.2", "s0.3", "s0.2", True]
