"""The lemma graph: drawn, queried and exported."""

import json
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import pytest

from apps.reasoning.graph import exports, lemma_graph

LEMMAS = {"s0.1": (1, 0, 1), "s0.2": (1, 0, 2), "s0.3": (2, 0, 3), "s1.1": (1, 1, 1), "s1.2": (1, 1, 2)}
USES = [("s0.2", "s0.1"), ("s0.3", "s0.1"), ("s0.3", "s0.2"), ("s1.2", "s1.1"), ("proof/1", "s0.3")]
MERGED = {"s1.1": "s0.1"}


def drawn(
    *more: tuple[str, str], merged: dict[str, str] = MERGED, retired: str = "", selected: str = "proof/1"
) -> "nx.DiGraph[str]":
    """Five lemmas and a proof, with `USES` and `more` uses `(user, used)`."""
    graph: nx.DiGraph[str] = nx.DiGraph(selected=selected)
    for lemma, (round_, rollout, number) in {**dict.fromkeys(merged, (1, 1, 9)), **LEMMAS}.items():
        status = "retired" if lemma == retired else "merged" if lemma in merged else "proposed"
        graph.add_node(lemma, kind="lemma", status=status, round=round_, rollout=rollout, number=number)
    graph.add_node("proof/1", kind="proof", status="proposed", round=0, rollout=0, number=0)
    uses: list[lemma_graph.Use] = [(user, used, {"quote": f"Lemma {used}"}) for user, used in [*USES, *more]]
    lemma_graph.draw_uses(graph, uses, lemma_graph.representatives(merged, ()))
    return graph


@pytest.fixture
def graph() -> "nx.DiGraph[str]":
    return drawn()


def test_an_edge_goes_from_the_used_lemma_to_its_user_with_its_evidence(graph: "nx.DiGraph[str]") -> None:
    assert graph.edges["s0.1", "s0.2"] == {"quote": "Lemma s0.1"}


def test_an_edge_that_would_close_a_cycle_is_refused() -> None:
    circular = drawn(("s0.1", "s0.3"), ("s0.1", "s0.1"))
    assert not circular.has_edge("s0.3", "s0.1")
    assert nx.is_directed_acyclic_graph(circular)


def test_focus_sets(graph: "nx.DiGraph[str]") -> None:
    assert lemma_graph.proof_closure(graph) == {"proof/1", "s0.1", "s0.2", "s0.3"}
    assert lemma_graph.frontier(graph) == {"s0.3", "s1.2"}


def test_a_retired_lemma_is_not_on_the_frontier_and_frees_what_it_used() -> None:
    later = drawn(retired="s0.3")
    assert lemma_graph.frontier(later) == {"s0.2", "s1.2"}


def test_without_a_proof_the_closure_is_empty() -> None:
    assert lemma_graph.proof_closure(drawn(selected="")) == set()


def test_the_outline_puts_what_is_used_before_what_uses_it(graph: "nx.DiGraph[str]") -> None:
    assert lemma_graph.outline(graph) == ["s0.1", "s0.2", "s1.1", "s1.2", "s0.3", "proof/1"]


def test_what_names_a_merged_lemma_rests_on_the_one_that_represents_it(graph: "nx.DiGraph[str]") -> None:
    assert list(graph.successors("s1.1")) == []
    assert graph.has_edge("s0.1", "s1.2")


def test_a_use_that_would_rest_on_itself_stays_at_the_lemma_that_the_text_names() -> None:
    twins = drawn(("s0.1", "s1.3"), merged={**MERGED, "s1.3": "s0.3"})
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


@pytest.fixture
def drawing() -> "nx.MultiDiGraph[str]":
    """Two nodes with awkward texts, and two edges between them."""
    drawn: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    drawn.add_node("s0.1", kind="lemma", label="1", statement='a\x00\x1b"b"\\frac\r\n<&>', status="merged", confidence=None)
    drawn.add_node(
        "s0.2", kind="lemma", label="2", statement="word " * 100, status="verified", confidence=0.75, contributes=True
    )
    drawn.add_edge("s0.1", "s0.2", key="uses:s0.1>s0.2", kind="uses", evidence=["Lemma 1"], contributes=True)
    drawn.add_edge("s0.1", "s0.2", key="merges:s0.1>s0.2", kind="merges", evidence=[])
    return drawn


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
