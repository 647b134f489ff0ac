"""The lemma graph as files: GraphML, DOT and node-link JSON by the core, and SVG where Graphviz is installed."""

import shutil
import subprocess
from collections.abc import Callable

import networkx as nx

from apps.lemmas.network import run_network
from apps.reasoning.graph.exports import to_dot, to_graphml, to_json
from apps.runs.models import Run

SVG_DEADLINE_S = 30


class ExportUnavailable(Exception):
    """Graphviz is not installed on this server. Take the DOT file and draw it elsewhere."""

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)


def to_svg(graph: "nx.DiGraph[str]") -> str:
    """A drawing by Graphviz. Raises `ExportUnavailable` where it is not installed."""
    program = shutil.which("dot")
    if program is None:
        raise ExportUnavailable
    done = subprocess.run(  # noqa: S603  A fixed program; the graph goes in as quoted text on its input.
        [program, "-Tsvg"], input=to_dot(graph), capture_output=True, text=True, timeout=SVG_DEADLINE_S, check=True
    )
    return done.stdout


FORMATS: dict[str, tuple[str, Callable[["nx.DiGraph[str]"], str]]] = {
    "graphml": ("application/graphml+xml", to_graphml),
    "dot": ("text/vnd.graphviz", to_dot),
    "json": ("application/json", to_json),
    "svg": ("image/svg+xml", to_svg),
}
"""Content type and writer by file ending."""


def graph_export(run: Run, form: str) -> tuple[str, str]:
    """`(content type, text)` of the graph. Raises `KeyError` for an unknown format, `ExportUnavailable`."""
    content_type, write = FORMATS[form]
    return content_type, write(run_network(run))
