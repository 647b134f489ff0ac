"""The lemma graph as GraphML, DOT and node-link JSON."""

import json
from typing import Any

import networkx as nx

_SHAPES = {"lemma": "box", "proof": "doubleoctagon"}


def to_graphml(graph: "nx.DiGraph[str]") -> str:
    """GraphML with every attribute as text or number; edges go from the user to what it uses."""
    flat: nx.DiGraph[str] = nx.DiGraph()
    for node, data in graph.nodes(data=True):
        flat.add_node(_printable(node), **_flat(data))
    for user, used, data in graph.edges(data=True):
        flat.add_edge(_printable(user), _printable(used), **_flat(data))
    return "\n".join(nx.generate_graphml(flat)) + "\n"


def to_dot(graph: "nx.DiGraph[str]") -> str:
    """Graphviz DOT, drawn from what is used up to what uses it."""
    lines = ["digraph lemmas {", "  rankdir=BT;"]
    for node, data in graph.nodes(data=True):
        shape = _SHAPES.get(str(data.get("kind")), "box")
        tooltip = _quoted(str(data.get("statement") or node))
        lines.append(f"  {_quoted(node)} [shape={shape}, class={_quoted(str(data.get('status', '')))}, tooltip={tooltip}];")
    lines += [
        f"  {_quoted(user)} -> {_quoted(used)} [tooltip={_quoted(str(data.get('quote', '')))}];"
        for user, used, data in graph.edges(data=True)
    ]
    return "\n".join([*lines, "}"]) + "\n"


def to_json(graph: "nx.DiGraph[str]") -> str:
    """NetworkX's node-link form (`nodes`, `edges` with `source` the user and `target` what it uses)."""
    data: dict[str, Any] = nx.node_link_data(graph, edges="edges")
    return json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _flat(data: dict[str, Any]) -> dict[str, str | int | float]:
    return {name: _scalar(value) for name, value in data.items() if value is not None}


def _scalar(value: object) -> str | int | float:
    if isinstance(value, list):
        return " ".join(str(item) for item in value)
    return value if isinstance(value, int | float) else _printable(str(value))


def _printable(text: str) -> str:
    """XML 1.0 has no place for most control characters."""
    return "".join(char for char in text if char in "\t\n" or ord(char) >= 0x20)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
