"""How fast the lemma graph is drawn: first paint and adding 20 lemmas, in headless Chromium with software rendering.

`python -m benchmarks.graph [SIZE …]`. Each figure is the median of five; "blocked" is the longest task of the main thread
while lemmas were added.
"""

import os
import statistics
import sys
from types import SimpleNamespace
from typing import Any

import django

SIZES = (50, 200, 1000, 2000)
ROUNDS = 5
ADDED = 20

MEASURE = """async ([data, more]) => {
  const view = document.querySelector("[data-lemma-graph]").lemmaGraph.view;
  const drawn = () => new Promise((resolve) => view.cy.one("render", () => requestAnimationFrame(() => resolve())));
  let blocked = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => { blocked = Math.max(blocked, entry.duration); }))
    .observe({ entryTypes: ["longtask"] });
  let start = performance.now();
  let painted = drawn();
  view.setGraph(data);
  await painted;
  const first = performance.now() - start;
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


def main(sizes: list[int]) -> None:
    """Print one row per size."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    django.setup()
    from tests.graph_js.node import facts
    from tests.ui.browser import Pages, browser_page

    with browser_page(Pages(_answers())) as page:
        page.goto("/graph/")
        print(f"{'lemmas':>7} {'first paint':>12} {'add 20':>9} {'script':>9} {'blocked':>9} {'moved':>6}")
        for size in sizes:
            graphs = [facts("print_graph.mjs", str(size)), facts("print_graph.mjs", str(size + ADDED), str(size))]
            rows = [page.evaluate(MEASURE, graphs) for _ in range(ROUNDS)]
            figure = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
            print(
                f"{size:>7} {figure['first']:>9.0f} ms {figure['add']:>6.0f} ms {figure['script']:>6.0f} ms "
                f"{figure['blocked']:>6.0f} ms {max(row['moved'] for row in rows):>6}"
            )


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
