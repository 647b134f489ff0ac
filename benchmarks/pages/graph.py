"""Drawing of the lemma graph: first paint and adding 20 lemmas, in headless Chromium with software rendering.

`python -m benchmarks.pages.graph [SIZE …]`. Figures are medians of five. "blocked" is the longest task of the main thread while
lemmas are added.
"""

import os
import statistics
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import django
import pytest

from benchmarks.figures import Figure, Skipped

SIZES = (50, 200, 1000, 2000)
ROUNDS = 5
ADDED = 20
#: Sizes of the report with the target for the first paint in milliseconds.
PAINTED = {300: 600, 2000: 2500}

MEASURE = """async ([data, more]) => {
  const view = document.querySelector("[data-lemma-graph]").lemmaGraph.view;
  const drawn = () => new Promise((resolve) => view.cy.one("render", () => requestAnimationFrame(() => resolve())));
  let blocked = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => { blocked = Math.max(blocked, entry.duration); }))
    .observe({ entryTypes: ["longtask"] });
  let start = performance.now();
  let painted = drawn();
  await view.setGraph(data);
  await painted;
  const first = performance.now() - start;
  await view.improved;
  await new Promise((resolve) => setTimeout(resolve, 400));
  blocked = 0;
  const before = view.positions();
  start = performance.now();
  painted = drawn();
  view.applyDelta(more);
  const script = performance.now() - start;
  await painted;
  const add = performance.now() - start;
  await new Promise((resolve) => setTimeout(resolve, 400));
  const after = view.positions();
  const moved = Object.keys(before).filter((id) => before[id].join() !== after[id].join()).length;
  return { first, add, script, blocked, moved };
}"""


def figures(quick: bool = False) -> list[Figure]:
    """First paint of 300 and 2,000 lemmas, and the addition of 20. Raises `Skipped` without a browser or Node."""
    try:
        rows = dict(_measured(list(PAINTED), rounds=2 if quick else ROUNDS))
    except (OSError, ImportError, pytest.skip.Exception) as error:
        raise Skipped(f"Chromium, Playwright or Node is missing ({error}).") from error
    found = []
    for size, target in PAINTED.items():
        row = rows[size]
        found += [
            Figure(f"first paint of {size:,} lemmas", row["first"], "ms", target),
            Figure(f"… {ADDED} lemmas added and painted", row["add"], "ms", 120 if size == min(PAINTED) else None),
            Figure("… of it script", row["script"], "ms"),
            Figure("… longest task of the main thread", row["blocked"], "ms", 80 if size == min(PAINTED) else None),
            Figure("… old lemmas moved", row["moved"], "", 0),
        ]
    return found


def main(sizes: list[int]) -> None:
    """Print one row for each size."""
    print(f"{'lemmas':>7} {'first paint':>12} {'add 20':>9} {'script':>9} {'blocked':>9} {'moved':>6}")
    for size, figure in _measured(sizes):
        print(
            f"{size:>7} {figure['first']:>9.0f} ms {figure['add']:>6.0f} ms {figure['script']:>6.0f} ms "
            f"{figure['blocked']:>6.0f} ms {figure['moved']:>6.0f}"
        )


def _measured(sizes: list[int], rounds: int = ROUNDS) -> Iterator[tuple[int, dict[str, float]]]:
    """Sizes with their figures: medians, and the maximum of moved lemmas."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    django.setup()
    from tests.node import facts
    from tests.ui.browser import Pages, browser_page

    with browser_page(Pages(_answers())) as page:
        page.goto("/graph/")
        for size in sizes:
            graphs = [facts("print_graph.mjs", str(size)), facts("print_graph.mjs", str(size + ADDED), str(size))]
            rows = [page.evaluate(MEASURE, graphs) for _ in range(rounds)]
            medians = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
            yield size, medians | {"moved": max(row["moved"] for row in rows)}


def _answers() -> dict[str, Any]:
    """The graph's page and an empty graph, rendered without a database."""
    from django.http import HttpResponse, JsonResponse
    from django.template.loader import render_to_string

    run = SimpleNamespace(public_id="00000000-0000-0000-0000-000000000000", title="Benchmark")
    empty = {"seq": 0, "after": 0, "live": True, "base": "/", "selected_proof": "", "rounds": 0, "rollouts": 0}
    lists: dict[str, list[Any]] = {name: [] for name in ("nodes", "edges", "contributing", "redundant", "frontier")}
    html = render_to_string("lemmas/graph_page.html", {"run": run, "levels": []})
    return {"/graph/": HttpResponse(html), f"/runs/{run.public_id}/graph.json": JsonResponse(empty | lists)}


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or list(SIZES))
