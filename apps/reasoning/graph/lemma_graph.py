"""The dependency graph of lemmas and proofs, folded from events, and what can be asked of it.

Nodes are lemma versions (`s0.7`, `s0.7-fixed`) and proofs (`proof/2`). An edge goes from the user to what it uses. The graph
has no cycle: an edge that would close one is refused where it is made, and again here.
"""

from collections.abc import Iterable

import networkx as nx

from apps.reasoning.domain.events import (
    EdgeAdded,
    Event,
    LemmaMerged,
    LemmaProposed,
    LemmaRestored,
    LemmaRetired,
    ProofDrafted,
    ProofSelected,
    VerdictReached,
)


def build(events: Iterable[Event]) -> "nx.DiGraph[str]":
    """The graph of all lemma versions and proofs. Node attributes: see `_lemma` and `_proof`; edges carry `quote`, `where`."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.graph["selected"] = ""
    for event in events:
        match event:
            case LemmaProposed():
                graph.add_node(event.lemma, **_lemma(event))
            case ProofDrafted():
                graph.add_node(event.proof, **_proof(event))
            case EdgeAdded():
                if event.user in graph and event.used in graph and not closes_cycle(graph, event.user, event.used):
                    graph.add_edge(event.user, event.used, quote=event.evidence.quote, where=event.evidence.where)
            case LemmaMerged():
                graph.nodes[event.lemma].update(status="merged", merged_into=event.into)
                into = graph.nodes[event.into]
                into["rollouts"] = sorted({*into["rollouts"], *graph.nodes[event.lemma]["rollouts"]})
            case VerdictReached():
                _verdict(graph, event)
            case LemmaRetired():
                graph.nodes[event.lemma].update(status="retired", reason=event.reason)
            case LemmaRestored():
                graph.nodes[event.lemma].update(status="verified", reason=event.reason)
            case ProofSelected():
                graph.graph["selected"] = event.proof
            case _:
                pass
    return graph


def _lemma(event: LemmaProposed) -> dict[str, object]:
    return {
        "kind": "lemma",
        "label": event.lemma,
        "number": event.number,
        "rollout": event.rollout,
        "round": event.round,
        "statement": event.statement,
        "status": "proposed",
        "confidence": None,
        "origin": event.origin,
        "supersedes": event.supersedes,
        "merged_into": "",
        "rollouts": [event.rollout],
    }


def _proof(event: ProofDrafted) -> dict[str, object]:
    return {
        "kind": "proof",
        "label": event.proof,
        "number": 0,
        "rollout": event.rollout,
        "round": 0,
        "statement": "",
        "status": "proposed",
        "confidence": None,
        "revises": event.revises,
    }


def _verdict(graph: "nx.DiGraph[str]", event: VerdictReached) -> None:
    if event.subject in graph:
        graph.nodes[event.subject].update(status=event.status, confidence=event.confidence)


def closes_cycle(graph: "nx.DiGraph[str]", user: str, used: str) -> bool:
    """Would the edge `user` → `used` close a cycle (`used` rests on `user` already, or is it)?"""
    return user == used or (user in graph and used in graph and nx.has_path(graph, used, user))


def representative(graph: "nx.DiGraph[str]", node: str) -> str:
    """The node that stands for `node` after merging; itself where it was not merged."""
    seen = {node}
    while (into := graph.nodes[node].get("merged_into", "")) and into in graph and into not in seen:
        node = into
        seen.add(node)
    return node


def merged(graph: "nx.DiGraph[str]") -> "nx.DiGraph[str]":
    """The graph with merged lemmas drawn into the one they say the same as; edges that would close a cycle are left out."""
    drawn: nx.DiGraph[str] = nx.DiGraph(**graph.graph)
    drawn.add_nodes_from((node, data) for node, data in graph.nodes(data=True) if representative(graph, node) == node)
    for user, used, data in graph.edges(data=True):
        user, used = representative(graph, user), representative(graph, used)
        if not drawn.has_edge(user, used) and not closes_cycle(drawn, user, used):
            drawn.add_edge(user, used, **data)
    return drawn


def ancestors(graph: "nx.DiGraph[str]", node: str) -> set[str]:
    """Everything `node` rests on, directly or not."""
    return set(nx.descendants(graph, node))


def descendants(graph: "nx.DiGraph[str]", node: str) -> set[str]:
    """Everything that rests on `node`, directly or not."""
    return set(nx.ancestors(graph, node))


def proof_closure(graph: "nx.DiGraph[str]", proof: str = "") -> set[str]:
    """The proof (by default the selected one) and all it rests on: the contributing set. Empty where there is no proof."""
    proof = proof or graph.graph.get("selected", "")
    return {proof} | ancestors(graph, proof) if proof in graph else set()


def frontier(graph: "nx.DiGraph[str]") -> set[str]:
    """Live lemmas that no other live lemma uses yet: where the next round can start."""
    live = {node for node, data in graph.nodes(data=True) if data["kind"] == "lemma" and is_live(graph, node)}
    return {node for node in live if not any(user in live for user in graph.predecessors(node))}


def is_live(graph: "nx.DiGraph[str]", node: str) -> bool:
    """Is the lemma still in play: neither rejected nor retired nor merged into another?"""
    return graph.nodes[node]["status"] not in ("rejected", "retired", "merged")


def outline(graph: "nx.DiGraph[str]") -> list[str]:
    """All nodes, what is used before what uses it; otherwise by round, rollout and number. The reading order of the graph."""

    def place(node: str) -> tuple[bool, int, int, int, str]:
        data = graph.nodes[node]
        return data["kind"] == "proof", data["round"], data["rollout"], data["number"], node

    return list(nx.lexicographical_topological_sort(graph.reverse(copy=False), key=place))


def reduced(graph: "nx.DiGraph[str]") -> "nx.DiGraph[str]":
    """The graph without edges that a longer way implies, for drawing; nodes and the kept edges keep their attributes."""
    slim: nx.DiGraph[str] = nx.transitive_reduction(graph)
    slim.graph.update(graph.graph)
    for node in slim:
        slim.nodes[node].update(graph.nodes[node])
    for user, used in slim.edges:
        slim.edges[user, used].update(graph.edges[user, used])
    return slim
