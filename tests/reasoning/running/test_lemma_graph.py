"""The lemma graph of a story: drawn, asked, reduced and exported."""

import json
from collections.abc import Sequence
from typing import Any
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
from apps.reasoning.story.run_story import fold


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


def drawn(events: Sequence[Event]) -> "nx.DiGraph[str]":
    """The graph of a story, as `apps.lemmas.network` draws it from rows."""
    lemmas = fold(enumerate(events, 1)).lemmas
    graph: nx.DiGraph[str] = nx.DiGraph(selected=next((name for name, one in lemmas.proofs.items() if one.selected), ""))
    for name, one in lemmas.versions.items():
        lemma = one.proposed
        graph.add_node(name, kind="lemma", number=lemma.number, rollout=lemma.rollout, round=lemma.round, status=one.status)
    graph.add_nodes_from(lemmas.proofs, kind="proof", number=0, rollout=0, round=0, status="")
    merged = {name: one.merged_into for name, one in lemmas.versions.items() if one.merged_into}
    holding = {name for name, one in lemmas.versions.items() if one.judged == "verified" and not one.is_retired}
    uses: list[lemma_graph.Use] = [(one.user, one.used, {"quote": one.evidence.quote}) for _, one in lemmas.uses]
    lemma_graph.draw_uses(graph, uses, lemma_graph.representatives(merged, holding))
    return graph


@pytest.fixture
def graph() -> "nx.DiGraph[str]":
    return drawn(EVENTS)


def test_lemmas_are_as_the_events_say(graph: "nx.DiGraph[str]") -> None:
    lemmas = fold(enumerate(EVENTS, 1)).lemmas.versions
    assert (lemmas["s0.1"].status, lemmas["s0.1"].confidence, lemmas["s0.1"].found_in) == ("verified", 0.75, [0, 1])
    assert lemmas["s1.1"].status == "merged"
    assert graph.edges["s0.1", "s0.2"] == {"quote": "Lemma 1"}


def test_an_edge_that_would_close_a_cycle_is_refused() -> None:
    circular = drawn([*EVENTS, edge("s0.1", "s0.3"), edge("s0.1", "s0.1")])
    assert not circular.has_edge("s0.3", "s0.1")
    assert nx.is_directed_acyclic_graph(circular)


def test_focus_sets(graph: "nx.DiGraph[str]") -> None:
    assert lemma_graph.ancestors(graph, "s0.3") == {"s0.1", "s0.2"}
    assert lemma_graph.descendants(graph, "s0.1") == {"s0.2", "s0.3", "s1.2", "proof/1"}
    assert lemma_graph.proof_closure(graph) == {"proof/1", "s0.1", "s0.2", "s0.3"}
    assert lemma_graph.frontier(graph) == {"s0.3", "s1.2"}


def test_a_retired_lemma_is_not_on_the_frontier_and_frees_what_it_used() -> None:
    later = drawn([*EVENTS, LemmaRetired(lemma="s0.3", reason="wrong")])
    assert lemma_graph.frontier(later) == {"s0.2", "s1.2"}


def test_without_a_proof_the_closure_is_empty() -> None:
    assert lemma_graph.proof_closure(drawn(EVENTS[:3])) == set()


def test_the_outline_puts_what_is_used_before_what_uses_it(graph: "nx.DiGraph[str]") -> None:
    assert lemma_graph.outline(graph) == ["s0.1", "s0.2", "s1.1", "s1.2", "s0.3", "proof/1"]


def test_what_names_a_merged_lemma_rests_on_the_one_that_represents_it(graph: "nx.DiGraph[str]") -> None:
    assert list(graph.successors("s1.1")) == []
    assert graph.has_edge("s0.1", "s1.2")


def test_a_use_that_would_rest_on_itself_stays_at_the_lemma_that_the_text_names() -> None:
    twin = proposed("s1.3", 3, rollout=1)
    twins = drawn([*EVENTS, twin, edge("s0.1", "s1.3"), LemmaMerged(lemma="s1.3", into="s0.3", reason="equal")])
    assert list(twins.successors("s1.3")) == ["s0.1"]
    assert nx.is_directed_acyclic_graph(twins)


@pytest.mark.parametrize(
    ("merged", "holding", "by"),
    [
        ({"a": "b"}, {"a", "b"}, {"a": "b"}),
        ({"a": "b"}, set(), {"a": "b"}),
        ({"a": "b"}, {"a"}, {"a": "a"}),
        ({"a": "b", "b": "c"}, {"a", "b", "c"}, {"a": "c", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a", "b"}, {"a": "b", "b": "b"}),
        ({"a": "b", "b": "a"}, set(), {"a": "b", "b": "a"}),
    ],
)
def test_the_end_of_the_chain_represents_while_it_holds(merged: dict[str, str], holding: set[str], by: dict[str, str]) -> None:
    assert lemma_graph.representatives(merged, holding) == by


def test_the_reduction_leaves_out_what_a_longer_way_implies(graph: "nx.DiGraph[str]") -> None:
    slim = lemma_graph.reduced(graph)
    assert not slim.has_edge("s0.1", "s0.3")
    assert slim.has_edge("s0.2", "s0.3")
    assert slim.nodes["s0.1"] == graph.nodes["s0.1"]


def test_votes_after_a_merge_leave_the_lemma_merged() -> None:
    verdict = VerdictReached(subject="s1.1", passes=4, valid=4, total=4, confidence=1, status="verified")
    later = fold(enumerate([*EVENTS, verdict], 1)).lemmas.versions["s1.1"]
    assert (later.status, later.confidence) == ("merged", 1)


@pytest.fixture
def drawing() -> "nx.MultiDiGraph[str]":
    """Two nodes with awkward texts, and two edges between them."""
    shown: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    shown.add_node("s0.1", kind="lemma", label="1", statement='a\x00\x1b"b"\\frac\r\n<&>', status="merged", confidence=None)
    shown.add_node(
        "s0.2", kind="lemma", label="2", statement="word " * 100, status="verified", confidence=0.75, contributes=True
    )
    shown.add_edge("s0.1", "s0.2", key="uses:s0.1>s0.2", kind="uses", evidence=["Lemma 1"], contributes=True)
    shown.add_edge("s0.1", "s0.2", key="merges:s0.1>s0.2", kind="merges", evidence=[])
    return shown


def test_graphml_keeps_parallel_edges_and_drops_what_xml_cannot_hold(drawing: "nx.MultiDiGraph[str]") -> None:
    text = exports.to_graphml(drawing)
    ElementTree.fromstring(text)
    back: Any = nx.parse_graphml(text, edge_key_type=str)
    assert set(back.edges) == set(drawing.edges)
    assert back.nodes["s0.1"]["statement"] == 'a"b"\\frac\n<&>'
    assert json.loads(back.edges["s0.1", "s0.2", "uses:s0.1>s0.2"]["evidence"]) == ["Lemma 1"]


def test_json_is_node_link_data(drawing: "nx.MultiDiGraph[str]") -> None:
    back = nx.node_link_graph(json.loads(exports.to_json(drawing)), edges="edges")
    assert nx.utils.graphs_equal(back, drawing)


def test_dot_has_colours_kinds_and_short_statements(drawing: "nx.MultiDiGraph[str]") -> None:
    merged, verified, uses, merges = (line for line in exports.to_dot(drawing).splitlines() if line.startswith('  "'))
    assert 'fillcolor="#f6f3eb"' in merged
    assert 'label="1\\na\x1b\\"b\\"\\\\frac <&>"' in merged
    assert 'fillcolor="#b5b573"' in verified
    assert 'color="#1f4e79"' in verified
    assert verified.split('label="')[1].split('"')[0].count("word") < 30
    assert 'class="uses"' in uses
    assert 'label="merges"' in merges
