"""docs/benchmarks.html: the figures as tables, and as charts if `make setup` has installed Plotly into static/vendor/."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.figures import Figure

TEMPLATE = Path(__file__).with_name("report_page.html")
TARGETS = "Value ÷ target, or target ÷ value if more is better: met up to 1"
_SPREAD_FOR_LOG = 20


def page(known: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    """The page for the content of benchmarks.json. `titles` by name, in the order of the page."""
    results = {name: known["results"][name] for name in titles if name in known["results"]}
    charts = list(_charts(results))
    sections = [_section(name, titles[name], result, charts) for name, result in results.items()]
    machine = " · ".join(f"{escape(name)}: {escape(value)}" for name, value in known["machine"].items())
    return Template(TEMPLATE.read_text()).substitute(
        machine=machine, sections=_overview(charts) + "\n".join(sections), charts=json.dumps(charts).replace("</", "<\\/")
    )


def _charts(results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The charts of the page: first all targets, then the charts that figures name. Data are Plotly traces."""
    wanted = [(f"{name}: {figure.name}", figure) for name, figure in _figures(results) if figure.target and figure.value]
    if wanted:
        used = [round(_used(figure), 4) for _, figure in wanted]
        bars = {"type": "bar", "orientation": "h", "y": [name for name, _ in reversed(wanted)], "x": used[::-1]}
        colours = ["#0f9d76" if figure.is_met else "#c2417c" for _, figure in reversed(wanted)]
        yield {"id": "targets", "title": TARGETS, "data": [bars | {"marker": {"color": colours}}], "log": False}
    grouped: dict[tuple[str, str], list[Figure]] = {}
    for name, figure in _figures(results):
        if figure.chart:
            grouped.setdefault((name, figure.chart), []).append(figure)
    for number, ((name, title), figures) in enumerate(grouped.items()):
        values = [figure.value for figure in figures if figure.value > 0]
        is_wide = bool(values) and max(values) > _SPREAD_FOR_LOG * min(values) and figures[0].at is not None
        yield {"id": f"{name}-{number}", "title": title, "data": list(_traces(figures)), "log": is_wide}


def _figures(results: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    for name, result in results.items():
        for row in result.get("figures", ()):
            yield name, Figure.from_json(row)


def _traces(figures: list[Figure]) -> Iterator[dict[str, Any]]:
    if figures[0].at is None:
        yield {"type": "bar", "x": [figure.line for figure in figures], "y": [figure.value for figure in figures]}
        return
    for line in dict.fromkeys(figure.line for figure in figures):
        points = [figure for figure in figures if figure.line == line]
        at = [f"{point.at:g}" for point in points]
        yield {"type": "scatter", "mode": "lines+markers", "name": line, "x": at, "y": [point.value for point in points]}


def _used(figure: Figure) -> float:
    assert figure.target is not None
    return figure.target / figure.value if figure.sense == "at least" else figure.value / figure.target


def _overview(charts: list[dict[str, Any]]) -> str:
    return (
        '<h2>Targets</h2>\n<div class="scroll"><div class="chart" id="targets"></div></div>\n'
        if charts and charts[0]["id"] == "targets"
        else ""
    )


def _section(name: str, title: str, result: Mapping[str, Any], charts: list[dict[str, Any]]) -> str:
    head = f"<h2>{escape(title)}</h2>\n<p><code>python -m benchmarks {name}</code>"
    if "skipped" in result:
        return f"{head}</p>\n<p>Not measured: {escape(result['skipped'])}</p>"
    drawn = "\n".join(
        f'<div class="scroll"><div class="chart" id="{chart["id"]}"></div></div>'
        for chart in charts
        if chart["id"].startswith(f"{name}-")
    )
    rows = "\n".join(_row(Figure.from_json(row)) for row in result["figures"])
    return (
        f"{head} · {result['at']} · other work {result['others']:.0%}</p>\n{drawn}\n"
        f'<div class="scroll"><table>\n<tr><th>figure<th>value<th>target<th>met</tr>\n{rows}\n</table></div>'
    )


def _row(figure: Figure) -> str:
    name, value, target, met = map(escape, figure.row())
    number = f'<td class="number">{value}<td class="number">{target}'
    return f'<tr><td>{name}{number}<td class="{met}">{met}</tr>'
