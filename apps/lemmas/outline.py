"""The outline: the lemma graph as a list in topological order, for screen readers, keyboards, paper and no JavaScript."""

from dataclasses import dataclass, field

import networkx as nx

from apps.lemmas.graph_data import GraphData, GraphNode
from apps.lemmas.models import Judged, Lemma, LemmaState, ProofVersion
from apps.lemmas.words import confidence_words
from apps.runs.models import Run


@dataclass(frozen=True)
class OutlineItem:
    """One node with its verdict in words and the ids it uses and is used by."""

    node: GraphNode
    state: str
    confidence: str
    uses: list[str] = field(default_factory=list)
    used_by: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class OutlineLevel:
    """The nodes of one round; the last level holds the proofs."""

    title: str
    items: list[OutlineItem]


def outline(run: Run, data: GraphData) -> list[OutlineLevel]:
    """Levels by round; within a round, what is used comes before what uses it."""
    judged: dict[str, Judged] = {row.lemma: row for row in Lemma.objects.filter(run=run)}
    judged |= {row.proof: row for row in ProofVersion.objects.filter(run=run)}
    uses: nx.DiGraph[str] = nx.DiGraph()
    uses.add_nodes_from(node["id"] for node in data["nodes"])
    uses.add_edges_from((edge["source"], edge["target"]) for edge in data["edges"] if edge["kind"] == "uses")
    nodes = {node["id"]: node for node in data["nodes"] if node["kind"] != "problem"}
    levels: dict[int, list[OutlineItem]] = {}
    for name in _order(uses, [node["id"] for node in data["nodes"]]):
        if (node := nodes.get(name)) and (row := judged.get(name)):
            item = OutlineItem(
                node, _state_words(node), confidence_words(row), list(uses.predecessors(name)), list(uses.successors(name))
            )
            levels.setdefault(node["round"], []).append(item)
    last = data["rounds"]
    return [OutlineLevel("Proof" if round_ > last else f"Round {round_}", levels[round_]) for round_ in sorted(levels)]


def _order(uses: "nx.DiGraph[str]", told: list[str]) -> list[str]:
    """Topological order, equal places in the order of the events; that order alone where the uses run in a circle."""
    if not nx.is_directed_acyclic_graph(uses):
        return told
    place = {name: index for index, name in enumerate(told)}
    return list(nx.lexicographical_topological_sort(uses, key=place.__getitem__))


def _state_words(node: GraphNode) -> str:
    if node["kind"] == "proof":
        return node["status"] or "not yet judged"
    words = str(LemmaState(node["status"]).label)
    if node["human"]:
        words += f", {node['human']} by people"
    return words
