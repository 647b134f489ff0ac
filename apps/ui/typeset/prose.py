"""A text as a tree of plain values, from the same HTML that pages show, so that PDFs and pages agree.

A node is a str, or `{"t": tag, "c": [nodes]}`; a formula is `{"t": "math", "tex": …, "display": …}`.
"""

from html.parser import HTMLParser
from typing import Any

from apps.ui.markdown import render

Node = str | dict[str, Any]
_EMPTY = {"br", "hr"}
_HOLDERS = {"div", "ul", "ol", "table", "thead", "tbody", "tr", "blockquote"}


def prose_nodes(text: str) -> list[Node]:
    """The blocks of a Markdown text."""
    reader = _Reader()
    reader.feed(render(text))
    reader.close()
    blocks: list[Node] = reader.root["c"][0]["c"]
    return blocks


class _Reader(HTMLParser):
    """Parser of the well-formed HTML of `render`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: dict[str, Any] = {"t": "div", "c": []}
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        classes = (given.get("class") or "").split()
        node: dict[str, Any] = {"t": tag, "c": []}
        if "math" in classes:
            node = {"t": "math", "c": [], "tex": "", "display": "display" in classes}
        elif tag == "ol":
            node["start"] = int(given.get("start") or 1)
        self._open[-1]["c"].append(node)
        if tag not in _EMPTY:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _EMPTY and len(self._open) > 1:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        node = self._open[-1]
        if node["t"] == "math":
            node["tex"] += data
            return
        if not data.strip() and (node["t"] in _HOLDERS or "\n" in data):
            return
        before = node["c"][-1] if node["c"] else None
        if isinstance(before, dict) and before.get("display"):
            data = data.lstrip()
        if data:
            node["c"].append(data)
