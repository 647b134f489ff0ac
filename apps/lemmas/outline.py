"""The outline: the lemma graph as a list in topological order, for screen readers, keyboards, paper and no JavaScript."""

from dataclasses import dataclass, field

from apps.lemmas.graph_data import GraphNode, data_of
from apps.lemmas.models import Judged, Lemma
from apps.lemmas.network import RunGraph
from apps.lemmas.words import confidence_words
from apps.reasoning.graph.lemma_graph import outline as reading_order


@dataclass(frozen=True)
class OutlineItem:
    """One node with its verdict in words, its dependencies and its users."""

    node: GraphNode
    state: str
    confidence: str
    uses: list[str] = field(default_factory=list)
    used_by: list[str] = field(default_factory=list)
    prefix: str = ""


@dataclass(frozen=True)
class OutlineLevel:
    """The nodes of one round; the last level holds the proofs."""

    title: str
    items: list[OutlineItem]


def outline(graph: RunGraph) -> list[OutlineLevel]:
    """Levels by round; within a round in topological order."""
    data, network = data_of(graph), graph.network
    judged: dict[str, Judged] = {row.lemma: row for row in graph.lemmas}
    judged |= {row.proof: row for row in graph.proofs}
    nodes = {node["id"]: node for node in data["nodes"]}
    several = data["rollouts"] > 1
    levels: dict[int, list[OutlineItem]] = {}
    for name in reading_order(network):
        node, row = nodes[name], judged[name]
        uses, used_by = list(network.predecessors(name)), list(network.successors(name))
        prefix = f"s{node['rollout']}." if several and node["kind"] == "lemma" else ""
        item = OutlineItem(node, _state_words(row, node), confidence_words(row), uses, used_by, prefix)
        levels.setdefault(node["round"], []).append(item)
    last, stage = data["rounds"], data["stage"].capitalize()
    return [OutlineLevel("Proof" if round_ > last else f"{stage} {round_}", levels[round_]) for round_ in sorted(levels)]


def _state_words(row: Judged, node: GraphNode) -> str:
    words = node["status"] or "not yet judged"
    if isinstance(row, Lemma):
        words = f"{row.state_words}, {node['human']} by people" if node["human"] else row.state_words
    return f"{words}, a formula refuted" if node["check"] == "refuted" else words
