"""What the drawing shows, in a real browser: parts, search, overview, titles and cards, the map, and SVG."""

from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from apps.runs.models import Run
from tests.graph_js.graph_page import GRAPH, click_node, graph_page, seeded, wait_until
from tests.ui.browser import Pages, needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]


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


def test_lines_are_led_around_lemmas_that_arrive(pages: Pages, run: Run) -> None:
    seeded(pages, run, 40)
    blocked = f"""async () => {{
      const {{ boxesOf, isClear }} = await import("/static/js/graph/clear.js");
      const {{ lineOf }} = await import("/static/js/graph/layout.js");
      const {{ layout, graph }} = {GRAPH}.view;
      const point = (id) => [layout.position.get(id).x, layout.position.get(id).y];
      const points = Object.fromEntries([...graph.nodes.keys()].map((id) => [id, point(id)]));
      const boxes = boxesOf([...graph.nodes.values()], points);
      const line = (edge) => [point(edge.source), ...lineOf(layout, edge), point(edge.target)];
      return [...graph.edges.values()].filter((edge) => !isClear(edge, line(edge), boxes)).length;
    }}"""
    with graph_page(pages, run) as page:
        before = page.evaluate(f"{GRAPH}.view.positions()")
        seeded(pages, run, 60, after=40)
        page.evaluate(f"{GRAPH}.refresh()")
        wait_until(page, f"{GRAPH}.view.cy.nodes().length === 61")
        after = page.evaluate(f"{GRAPH}.view.positions()")
        assert {name: after[name] for name in before} == before
        assert page.evaluate(blocked) == 0


def test_a_reader_who_zooms_keeps_the_view_while_lemmas_arrive(pages: Pages, run: Run) -> None:
    seeded(pages, run, 40)
    with graph_page(pages, run, "?hide=rejected") as page:
        page.click('[data-action="zoom-in"]')
        zoom = page.evaluate(f"{GRAPH}.view.cy.zoom()")
        seeded(pages, run, 60, after=40)
        page.evaluate(f"{GRAPH}.refresh()")
        wait_until(page, f"{GRAPH}.view.graph.nodes.size === 61 && {GRAPH}.view.isShown('s1.60')")
        assert page.evaluate(f"{GRAPH}.view.cy.zoom()") == zoom
        assert "new lemma" in page.inner_text('[data-part="pill"]')


def test_a_card_shows_a_verdict_that_has_changed(pages: Pages, run: Run) -> None:
    judged = f"""() => {{ const {{ view }} = {GRAPH}; const node = {{ ...view.graph.nodes.get("s0.7"), human: "rejected" }};
      view.applyDelta({{ nodes: [node], edges: [], contributing: [], redundant: [], frontier: [], rollouts: 2 }}); }}"""
    with graph_page(pages, run) as page:
        page.evaluate(f"({GRAPH}.view.cy.zoom(2), {GRAPH}.view.goTo('s0.7'))")
        page.wait_for_selector(".graph__card:has-text('Lemma s0.7')")
        page.evaluate(judged)
        page.wait_for_selector(".graph__card:has-text('rejected by people')")


def test_a_filter_follows_the_moment_that_is_shown(pages: Pages, run: Run) -> None:
    then = f"""(count) => {{ const {{ graph }} = {GRAPH}.view; const nodes = new Map([...graph.nodes].slice(0, count));
      const edges = new Map([...graph.edges].filter(([, edge]) => nodes.has(edge.source) && nodes.has(edge.target)));
      return {{ ...graph, nodes, edges }}; }}"""
    with graph_page(pages, run, "?hide=merged") as page:
        whole = page.evaluate(f"{GRAPH}.view.cy.nodes(':visible').length")
        page.evaluate(f"(window.early = ({then})(6), window.late = ({then})(12), {GRAPH}.asOf(window.early))")
        early = page.evaluate(f"{GRAPH}.view.cy.nodes(':visible').length")
        page.evaluate(f"{GRAPH}.asOf(window.late)")
        assert page.evaluate(f"{GRAPH}.view.cy.nodes(':visible').length") > early
        page.evaluate(f"{GRAPH}.asOf(null)")
        wait_until(page, f"{GRAPH}.view.cy.nodes(':visible').length === {whole}")
