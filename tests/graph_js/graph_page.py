"""The page of the lemma graph in a real browser, with the run of tests/lemmas/story.py or a seeded graph, for tests."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpResponse, JsonResponse
from playwright.sync_api import Page

from apps.runs.models import Run
from tests.node import facts
from tests.ui.browser import Pages, browser_page

GRAPH = "document.querySelector('[data-lemma-graph]').lemmaGraph"


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
