"""A graph of lemmas as GraphML, DOT and node-link JSON.

All three take a `networkx.MultiDiGraph` whose nodes and edges carry the fields of docs/graph_data.md: edges have a `kind`, go
from what is used to its user, and are keyed by their id.
"""

import json
from typing import Any

import networkx as nx

_SHAPES = {"problem": "note", "human": "hexagon", "proof": "doubleoctagon"}
#: The steps of confidence, as in static/css/tokens.css: fill and ink.
_RAMP = (("#3b3b6d", "#ffffff"), ("#5c6b8a", "#ffffff"), ("#7f9a92", "#14161a"), ("#b5b573", "#14161a"), ("#ecd24f", "#14161a"))
_PLAIN = ("#fdfcf9", "#1c1b18")
_FADED = ("#f6f3eb", "#6b675e")
_LINE, _PATH = "#8f8a7e", "#1f4e79"
_STYLES = {"corrects": "dashed", "merges": "dotted", "revises": "dashed"}
_LABEL_WIDTH, _LABEL_LINES = 34, 4


def to_graphml(graph: "nx.MultiDiGraph[str]") -> str:
    """GraphML. What is null is left out, lists are JSON text, and control characters that XML 1.0 cannot hold are dropped."""
    flat: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    flat.graph.update(_flat(graph.graph))
    for node, data in graph.nodes(data=True):
        flat.add_node(_printable(node), **_flat(data))
    for source, target, key, data in graph.edges(keys=True, data=True):
        flat.add_edge(_printable(source), _printable(target), key=_printable(key), **_flat(data))
    return "\n".join(nx.generate_graphml(flat)) + "\n"


def to_json(graph: "nx.MultiDiGraph[str]") -> str:
    """NetworkX's node-link form: `nodes`, and `edges` with `source`, `target` and `key`."""
    data: dict[str, Any] = nx.node_link_data(graph, edges="edges")
    return json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def to_dot(graph: "nx.MultiDiGraph[str]") -> str:
    """Graphviz DOT, drawn from the problem down to the proofs: fill is confidence, line style the kind of an edge.

    Edges that a longer way implies are drawn but do not shape the layout.
    """
    lines = [
        "digraph lemmas {",
        "  rankdir=TB;",
        '  node [style=filled, fontname="Helvetica", fontsize=10, margin="0.12,0.06"];',
    ]
    lines += ['  edge [fontname="Helvetica", fontsize=8];']
    prefixed = graph.graph.get("rollouts", 1) > 1
    lines += [f"  {_quoted(node)} [{_attributes(_drawn_node(data, prefixed))}];" for node, data in graph.nodes(data=True)]
    lines += [
        f"  {_quoted(source)} -> {_quoted(target)} [{_attributes(_drawn_edge(data))}];"
        for source, target, data in graph.edges(data=True)
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _drawn_node(data: dict[str, Any], prefixed: bool) -> dict[str, object]:
    """`prefixed`: lemmas are named with their rollout, as on the page where there are several."""
    prefix = f"s{data['rollout']}." if prefixed and data.get("kind") == "lemma" else ""
    fill, ink = _colours(data)
    line = _PATH if data.get("contributes") else _LINE
    return {
        "label": prefix + _label(data),
        "shape": _SHAPES.get(str(data.get("kind")), "box"),
        "fillcolor": fill,
        "fontcolor": ink,
        "color": line,
        "penwidth": 2.5 if data.get("contributes") else 1,
        "class": data.get("status") or data.get("kind") or "",
        "tooltip": data.get("text") or data.get("statement") or "",
    }


def _drawn_edge(data: dict[str, Any]) -> dict[str, object]:
    kind, on_path = str(data["kind"]), bool(data.get("contributes"))
    return {
        "class": kind,
        "style": _STYLES.get(kind, "solid"),
        "color": _PATH if on_path else _LINE,
        "penwidth": 2.5 if on_path else 1,
        "tooltip": "\n".join(data.get("evidence") or ()) or kind,
        **({"label": kind} if kind != "uses" else {}),
        **({"constraint": "false"} if data.get("redundant") or kind == "merges" else {}),
    }


def _colours(data: dict[str, Any]) -> tuple[str, str]:
    if data.get("status") in ("retired", "merged"):
        return _FADED
    confidence = data.get("confidence")
    return _PLAIN if confidence is None else _RAMP[min(4, int(confidence * 5))]


def _label(data: dict[str, Any]) -> str:
    """The name, then the beginning of the statement in a few short lines."""
    words, lines = str(data.get("statement") or "").split(), [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _LABEL_WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    shown = [line if len(line) <= 2 * _LABEL_WIDTH else line[: 2 * _LABEL_WIDTH] + "…" for line in lines[:_LABEL_LINES]]
    if len(lines) > _LABEL_LINES:
        shown[-1] += " …"
    return "\n".join([str(data.get("label") or ""), *filter(None, shown)])


def _attributes(values: dict[str, object]) -> str:
    return ", ".join(f"{name}={_quoted(str(value))}" for name, value in values.items())


def _flat(data: dict[str, Any]) -> dict[str, str | int | float | bool]:
    return {name: _scalar(value) for name, value in data.items() if value is not None}


def _scalar(value: object) -> str | int | float | bool:
    if isinstance(value, bool | int | float):
        return value
    return _printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _printable(text: str) -> str:
    """XML 1.0 has no place for most control characters."""
    return "".join(char for char in text if char in "\t\n" or (ord(char) >= 0x20 and char not in "\ufffe\uffff"))


def _quoted(text: str) -> str:
    """A string of DOT. Null ends a text for Graphviz."""
    escaped = text.replace("\0", "").replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'
