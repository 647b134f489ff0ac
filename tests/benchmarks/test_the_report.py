"""docs/benchmarks.html and .md from figures: tables, targets, charts, escaped text, and every benchmark on one page."""

import json
import re
from typing import Any

from benchmarks.__main__ import BENCHMARKS
from benchmarks.figures import Figure
from benchmarks.reports.report import documents
from benchmarks.reports.report_page import page

TITLES = {"fanout": "A text that is watched", "engine": "An engine"}


def known(*figures: Figure) -> dict[str, Any]:
    found = {"figures": [figure.as_json() for figure in figures], "at": "2026-01-01", "others": 0.02}
    return {"machine": {"processor": "2 cores"}, "results": {"fanout": found, "engine": {"skipped": "No engine </here>."}}}


def charts_of(html: str) -> list[dict[str, Any]]:
    found = re.search(r'id="charts">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    charts: list[dict[str, Any]] = json.loads(found.group(1))
    return charts


def test_figures_of_a_chart_are_drawn_as_lines() -> None:
    html = page(
        known(
            Figure("ours", 20, "ms", 50, "under", chart="Delay", line="ours", at=20),
            Figure("ours", 30, "ms", chart="Delay", line="ours", at=100),
            Figure("theirs", 900, "ms", chart="Delay", line="theirs", at=20),
        ),
        TITLES,
    )
    targets, delay = charts_of(html)
    assert targets["data"][0]["x"] == [0.4]
    assert [(trace["name"], trace["x"], trace["y"]) for trace in delay["data"]] == [
        ("ours", ["20", "100"], [20, 30]),
        ("theirs", ["20"], [900]),
    ]
    assert 'id="fanout-0"' in html
    assert '<td class="yes">yes' in html


def test_a_figure_for_which_more_is_better_is_inverted_in_the_chart() -> None:
    (targets,) = charts_of(page(known(Figure("ratio", 0.5, "", 1.0, "at least")), TITLES))
    assert targets["data"][0]["x"] == [2.0]


def test_a_skipped_benchmark_shows_its_reason_and_text_is_escaped() -> None:
    html = page(known(Figure("</script><b>bold</b>", 1, chart="c", line="</script>")), TITLES)
    assert "Not measured: No engine &lt;/here&gt;." in html
    assert "<b>bold" not in html
    assert charts_of(html)[0]["data"][0]["x"] == ["</script>"]


def test_every_benchmark_is_on_one_document_and_the_first_has_the_machine() -> None:
    result = {"figures": [], "at": "2026-01-01", "others": 0.0}
    titles = {name: title for name, (_, title) in BENCHMARKS.items()}
    found = documents({"machine": {"processor": "2 cores"}, "results": dict.fromkeys(titles, result)}, titles, {})
    assert {name: "- processor: 2 cores" in text for name, text in found.items()} == {
        "benchmarks.md": True, "benchmarks_pages.md": False, "benchmarks_writing.md": False,
        "benchmarks_methods.md": False,
    }  # fmt: skip
    headings = [line.removeprefix("## ") for text in found.values() for line in text.splitlines() if line.startswith("## ")]
    assert sorted(headings) == sorted(titles.values())


def test_a_benchmark_that_was_not_measured_keeps_its_section() -> None:
    kept = {TITLES["fanout"]: "## A text that is watched\n\nOld.\n", TITLES["engine"]: "## An engine\n\nOld.\n"}
    results = {name: result for name, result in known()["results"].items() if name == "engine"}
    found = documents({"machine": {}, "results": results}, TITLES, kept)
    assert "Old." in found["benchmarks_pages.md"]
    assert "Old." not in found["benchmarks.md"]
    assert "Not measured: No engine </here>." in found["benchmarks.md"]


def test_figures_of_older_reports_are_still_readable() -> None:
    assert Figure.from_json({"name": "old", "value": 1.0, "unit": "", "target": None, "sense": "at most"}).chart == ""
