"""The lemma graph: folded from events, asked, reduced and exported."""

import json
from xml.etree import ElementTree

import networkx as nx
import pytest

from apps.reasoning.domain.events import (
    EdgeAdded,
    Event,
    LemmaMerged,
    LemmaProposed,
    LemmaRetired,
    ProofDrafted,
    ProofSelected,
    TextAnchor,
    VerdictReached,
)
from apps.reasoning.graph import exports, lemma_graph


def proposed(lemma: str, number: int, rollout: int = 0, round_: int = 1) -> LemmaProposed:
    return LemmaProposed(lemma=lemma, number=number, rollout=rollout, round=round_, statement=f'"{lemma}"\n<&>', steps=("x",))


def edge(user: str, used: str) -> EdgeAdded:
    return EdgeAdded(user=user, used=used, evidence=TextAnchor(where="step 1", start=0, end=7, quote="Lemma 1"))


EVENTS: list[Event] = [
    proposed("s0.1", 1),
    proposed("s0.2", 2),
    proposed("s0.3", 3, round_=2),
    proposed("s1.1", 1, rollout=1),
    proposed("s1.2", 2, rollout=1),
    edge("s0.2", "s0.1"),
    edge("s0.3", "s0.1"),
    edge("s0.3", "s0.2"),
    edge("s1.2", "s1.1"),
    VerdictReached(subject="s0.1", passes=3, valid=4, total=4, confidence=0.75, status="verified"),
    LemmaMerged(lemma="s1.1", into="s0.1", reason="equal"),
    ProofDrafted(proof="proof/1", text="t", steps=("t",), call="c", rollout=0),
    edge("proof/1", "s0.3"),
    ProofSelected(proof="proof/1", accepted=True, reason="r"),
]


@pytest.fixture
def graph() -> "nx.DiGraph[str]":
    return lemma_graph.build(EVENTS)


def test_nodes_carry_what_the_events_say(graph: "nx.DiGraph[str]") -> None:
    assert graph.nodes["s0.1"]["status"] == "verified"
    assert graph.nodes["s0.1"]["confidence"] == 0.75
    assert graph.nodes["s0.1"]["rollouts"] == [0, 1]
    assert graph.nodes["s1.1"]["status"] == "merged"
    assert graph.edges["s0.2", "s0.1"] == {"quote": "Lemma 1", "where": "step 1"}


def test_an_edge_that_would_close_a_cycle_is_refused() -> None:
    circular = lemma_graph.build([*EVENTS, edge("s0.1", "s0.3"), edge("s0.1", "s0.1")])
    assert not circular.has_edge("s0.1", "s0.3")
    assert nx.is_directed_acyclic_graph(circular)


def test_focus_sets(graph: "nx.DiGraph[str]") -> None:
    assert lemma_graph.ancestors(graph, "s0.3") == {"s0.1", "s0.2"}
    assert lemma_graph.descendants(graph, "s0.1") == {"s0.2", "s0.3", "proof/1"}
    assert lemma_graph.proof_closure(graph) == {"proof/1", "s0.1", "s0.2", "s0.3"}
    assert lemma_graph.frontier(graph) == {"s0.3", "s1.2"}


def test_a_retired_lemma_is_not_on_the_frontier_and_frees_what_it_used() -> None:
    later = lemma_graph.build([*EVENTS, LemmaRetired(lemma="s0.3", reason="wrong")])
    assert lemma_graph.frontier(later) == {"s0.2", "s1.2"}


def test_without_a_proof_the_closure_is_empty() -> None:
    assert lemma_graph.proof_closure(lemma_graph.build(EVENTS[:3])) == set()


def test_the_outline_puts_what_is_used_before_what_uses_it(graph: "nx.DiGraph[str]") -> None:
    assert lemma_graph.outline(graph) == ["s0.1", "s0.2", "s1.1", "s1.2", "s0.3", "proof/1"]


def test_merging_draws_a_twins_edges_at_the_lemma_that_stands_for_it(graph: "nx.DiGraph[str]") -> None:
    drawn = lemma_graph.merged(graph)
    assert "s1.1" not in drawn
    assert drawn.has_edge("s1.2", "s0.1")


def test_merging_makes_no_cycle() -> None:
    twins = lemma_graph.build([*EVENTS, LemmaMerged(lemma="s1.2", into="s0.1", reason="equal")])
    drawn = lemma_graph.merged(twins)
    assert set(drawn) == {"s0.1", "s0.2", "s0.3", "proof/1"}
    assert nx.is_directed_acyclic_graph(drawn)


def test_the_reduction_leaves_out_what_a_longer_way_implies(graph: "nx.DiGraph[str]") -> None:
    slim = lemma_graph.reduced(graph)
    assert not slim.has_edge("s0.3", "s0.1")
    assert slim.has_edge("s0.3", "s0.2")
    assert slim.nodes["s0.1"] == graph.nodes["s0.1"]


def test_exports_can_be_read_back(graph: "nx.DiGraph[str]") -> None:
    back = nx.parse_graphml(exports.to_graphml(graph))
    assert set(back.edges) == set(graph.edges)
    ElementTree.fromstring(exports.to_graphml(graph))
    data = json.loads(exports.to_json(graph))
    assert {(link["source"], link["target"]) for link in data["edges"]} == set(graph.edges)
    dot = exports.to_dot(graph)
    assert dot.startswith("digraph lemmas {")
    assert '"proof/1" -> "s0.3" [tooltip="Lemma 1"];' in dot
    assert r'tooltip="\"s0.1\"\n<&>"' in dot


def test_graphml_survives_control_characters_in_statements() -> None:
    odd = LemmaProposed(lemma="s0.1", number=1, rollout=0, round=1, statement="a\x00\x1bb", steps=("x",))
    ElementTree.fromstring(exports.to_graphml(lemma_graph.build([odd])))
