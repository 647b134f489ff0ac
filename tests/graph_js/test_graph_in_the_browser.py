"""The lemma graph in a real browser: drawing, choosing, growth, keyboard, accessibility."""

import json

import pytest
from django.http import HttpResponse, JsonResponse
from playwright.sync_api import expect

from apps.runs.models import Run
from tests.graph_js.graph_page import GRAPH, click_node, graph_page, seeded, wait_until
from tests.node import facts
from tests.ui.axe import faults_in_both_themes, needs_axe
from tests.ui.browser import Pages, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
#: Questions to the layout worker arrive after the half second for which a drawing waits.
LATE_WORKER = """window.Worker = class extends Worker {
  postMessage(...sent) { setTimeout(() => super.postMessage(...sent), 1500); }
};"""


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
    with graph_page(pages, run, "?focus=everything") as page:
        before = page.evaluate(f"{GRAPH}.view.positions()")
        assert len(before) == size + 1
        seeded(pages, run, size + 20, after=size)
        page.evaluate(f"{GRAPH}.refresh()")
        wait_until(page, f"{GRAPH}.view.cy.nodes().length === {size + 21}")
        after = page.evaluate(f"{GRAPH}.view.positions()")
        assert {name: after[name] for name in before} == before
        click_node(page, "s0.1")
        assert page.evaluate(f"{GRAPH}.view.selected") == "s0.1" or size == 1000


def test_a_link_to_a_lemma_gets_a_late_layout_of_graphviz_too(pages: Pages, run: Run) -> None:
    with graph_page(pages, run) as page:
        by_graphviz = page.evaluate(f"{GRAPH}.view.positions()")
        page.add_init_script(LATE_WORKER)
        page.goto(f"/runs/{run.public_id}/graph/?node=s0.7")
        wait_until(page, f"Boolean({GRAPH}?.ready)")
        page.evaluate(f"{GRAPH}.ready")
        page.evaluate(f"{GRAPH}.view.improved")
        assert page.evaluate(f"{GRAPH}.view.positions()") == by_graphviz
        assert page.evaluate(f"{GRAPH}.view.selected") == "s0.7"


def test_a_large_graph_opens_as_boxes_of_rounds_and_every_lemma_is_one_step_away(pages: Pages, run: Run) -> None:
    seeded(pages, run, 520)
    with graph_page(pages, run) as page:
        assert page.input_value('[data-part="focus"]') == "overview"
        boxes = page.evaluate(f"{GRAPH}.view.cy.nodes('.cluster').length")
        assert 10 < boxes < 520 / 3
        page.evaluate(f"{GRAPH}.select('s0.1')")
        wait_until(page, f"{GRAPH}.view.isDrawn('s0.1')")
        assert "focus=group" in page.url
        page.click('[data-part="offer"]')
        assert page.input_value('[data-part="focus"]') == "overview"
        page.click("summary:has([data-part=hidden-count])")
        page.check('[data-hide="open"]')
        left = page.evaluate(f"{GRAPH}.view.shown")
        assert left < 520
        assert page.inner_text('[data-part="count"]') == f"{left} of 520"
        page.uncheck('[data-hide="open"]')
        page.click('[data-part="offer"]')
        wait_until(page, f"{GRAPH}.view.shown === 520")
        page.reload()
        wait_until(page, f"{GRAPH}?.view.shown === 520")


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
