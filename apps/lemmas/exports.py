"""The lemma graph as files: GraphML, DOT, node-link JSON, and SVG where Graphviz is installed."""

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import networkx as nx

from apps.lemmas.graph_data import GraphData, GraphEdge, GraphNode

SVG_DEADLINE_S = 30
_SHAPES = {"problem": "box", "proof": "box", "lemma": "ellipse", "human": "hexagon"}
_STYLES = {"uses": "solid", "corrects": "dashed", "revises": "dashed", "merges": "dotted"}


class ExportUnavailable(Exception):
    """Graphviz is not installed on this server; take the DOT file and draw it elsewhere."""

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)


def network(data: GraphData) -> "nx.MultiDiGraph[str]":
    """The graph as NetworkX has it; attributes are strings, numbers and booleans, absent where there is no value."""
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(seq=data["seq"], selected_proof=data["selected_proof"])
    for node in data["nodes"]:
        graph.add_node(node["id"], **{key: value for key, value in node.items() if key != "id" and value is not None})
    for edge in data["edges"]:
        kept: dict[str, Any] = {key: value for key, value in edge.items() if key not in ("id", "source", "target")}
        graph.add_edge(edge["source"], edge["target"], key=edge["id"], **kept | {"evidence": " | ".join(edge["evidence"])})
    return graph


def graphml(data: GraphData) -> str:
    """GraphML, as yEd, Gephi and NetworkX read it."""
    return "\n".join(nx.generate_graphml(network(data)))


def node_link(data: GraphData) -> str:
    """Node-link JSON, as NetworkX and D3 read it."""
    return json.dumps(nx.node_link_data(network(data), edges="edges"), ensure_ascii=False, indent=1)


def dot(data: GraphData) -> str:
    """DOT: shapes by kind, the contributing path bold."""
    lines = ["digraph lemmas {", "  rankdir=TB;", '  node [fontname="Helvetica", fontsize=11];']
    lines += [f"  {_text(node['id'])} [{_node_attributes(node)}];" for node in data["nodes"]]
    lines += [f"  {_text(edge['source'])} -> {_text(edge['target'])} [{_edge_attributes(edge)}];" for edge in data["edges"]]
    return "\n".join([*lines, "}", ""])


def svg(data: GraphData) -> str:
    """A drawing by Graphviz. Raises `ExportUnavailable` where it is not installed."""
    program = shutil.which("dot")
    if program is None:
        raise ExportUnavailable
    done = subprocess.run(  # noqa: S603  A fixed program; the graph goes in as quoted text on its input.
        [program, "-Tsvg"], input=dot(data), capture_output=True, text=True, timeout=SVG_DEADLINE_S, check=True
    )
    return done.stdout


FORMATS: dict[str, tuple[str, Callable[[GraphData], str]]] = {
    "graphml": ("application/graphml+xml", graphml),
    "dot": ("text/vnd.graphviz", dot),
    "json": ("application/json", node_link),
    "svg": ("image/svg+xml", svg),
}
"""Content type and writer by file ending."""


def _node_attributes(node: GraphNode) -> str:
    label = node["label"]
    if node["confidence"] is not None:
        label += f"\n{node['passes']}/{node['valid']}"
    pen = "2.4" if node["contributes"] else "1"
    fade = ', fontcolor="gray50", color="gray60"' if node["status"] in ("merged", "retired") else ""
    tip = _text(node["statement"])
    return f"label={_text(label)}, shape={_SHAPES[node['kind']]}, penwidth={pen}, tooltip={tip}{fade}"


def _edge_attributes(edge: GraphEdge) -> str:
    pen = "2.4" if edge["contributes"] else "1"
    return f"style={_STYLES[edge['kind']]}, penwidth={pen}, tooltip={_text(' | '.join(edge['evidence']) or edge['kind'])}"


def _text(value: str) -> str:
    """A quoted DOT string; backslashes and quotes of formulas stay what they are."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'
