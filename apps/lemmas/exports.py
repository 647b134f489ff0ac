"""The lemma graph as files: GraphML, DOT and node-link JSON by the core, and SVG if Graphviz is installed."""

import shutil
import subprocess
from collections.abc import Callable

import networkx as nx

from apps.lemmas.graph_data import PROBLEM, data_of
from apps.lemmas.network import run_graph
from apps.reasoning.graph.exports import to_dot, to_graphml, to_json
from apps.runs.models import Run

SVG_DEADLINE_S = 30
#: Attributes of the whole graph, as in graph.json.
ABOUT = ("seq", "selected_proof", "rounds", "rollouts")


class ExportUnavailable(Exception):
    """Graphviz is not installed on this server. Take the DOT file and draw it elsewhere."""

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)


def svg_is_possible() -> bool:
    """Whether Graphviz is installed on this server."""
    return shutil.which("dot") is not None


def to_svg(graph: "nx.MultiDiGraph[str]") -> str:
    """Draw with Graphviz. Raises `ExportUnavailable` if it is not installed."""
    program = shutil.which("dot")
    if program is None:
        raise ExportUnavailable
    done = subprocess.run(  # noqa: S603  A fixed program; the graph goes in as quoted text on its input.
        [program, "-Tsvg"], input=to_dot(graph), capture_output=True, text=True, timeout=SVG_DEADLINE_S, check=True
    )
    return done.stdout


FORMATS: dict[str, tuple[str, Callable[["nx.MultiDiGraph[str]"], str]]] = {
    "graphml": ("application/graphml+xml", to_graphml),
    "dot": ("text/vnd.graphviz", to_dot),
    "json": ("application/json", to_json),
    "svg": ("image/svg+xml", to_svg),
}
"""Content type and writer by file ending."""


def graph_export(run: Run, form: str) -> tuple[str, str]:
    """`(content type, text)` of the graph. Raises `KeyError` for an unknown format, `ExportUnavailable`."""
    content_type, write = FORMATS[form]
    return content_type, write(_whole(run))


def _whole(run: Run) -> "nx.MultiDiGraph[str]":
    """The nodes and edges of graph.json with all their fields; lemmas and proofs also have their full `text`."""
    rows = run_graph(run)
    data = data_of(rows)
    texts = {lemma.lemma: lemma.statement for lemma in rows.lemmas} | {proof.proof: proof.text for proof in rows.proofs}
    texts[PROBLEM] = run.problem_version.statement
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    graph.graph.update({"run": str(run.public_id), **{name: value for name, value in data.items() if name in ABOUT}})
    for node in data["nodes"]:
        fields = {name: value for name, value in node.items() if name != "id"}
        graph.add_node(node["id"], text=texts[node["id"]], **fields)
    for edge in data["edges"]:
        fields = {name: value for name, value in edge.items() if name not in ("id", "source", "target")}
        graph.add_edge(edge["source"], edge["target"], key=edge["id"], **fields)
    return graph
