"""A run's rows as the graph of `apps.reasoning.graph`, which answers all questions about it. Edges go from user to used."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import networkx as nx

from apps.lemmas.formula_checks import check_outcomes
from apps.lemmas.models import HumanVerdict, Lemma, LemmaEdge, ProofVersion
from apps.reasoning.graph.lemma_graph import closes_cycle
from apps.runs.models import Run


def network(
    lemmas: Iterable[Lemma], proofs: Iterable[ProofVersion], edges: Iterable[LemmaEdge], human: dict[str, str]
) -> "nx.DiGraph[str]":
    """The graph of the given rows, without edges to unknown nodes and without those that would close a circle."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.graph["selected"] = ""
    for lemma in lemmas:
        graph.add_node(lemma.lemma, **_lemma(lemma), human=human.get(lemma.lemma, ""))
    for proof in proofs:
        graph.add_node(proof.proof, **_proof(proof))
        if proof.selected:
            graph.graph["selected"] = proof.proof
    told = [edge for edge in edges if edge.user in graph and edge.used in graph]
    graph.add_edges_from((edge.user, edge.used, _evidence(edge)) for edge in told)
    if not nx.is_directed_acyclic_graph(graph):
        graph.remove_edges_from(list(graph.edges))
        for edge in told:
            if not closes_cycle(graph, edge.user, edge.used):
                graph.add_edge(edge.user, edge.used, **_evidence(edge))
    return graph


def run_network(run: Run) -> "nx.DiGraph[str]":
    """The graph of a run, for exports; `check` of a node is the outcome of the formula check, where there is one."""
    edges = LemmaEdge.objects.filter(run=run)
    graph = network(Lemma.objects.filter(run=run), ProofVersion.objects.filter(run=run), edges, human_words(run))
    for name, (outcome, _) in check_outcomes(run).items():
        if name in graph:
            graph.nodes[name]["check"] = outcome
    return graph


def redundant_uses(graph: "nx.DiGraph[str]") -> set[tuple[str, str]]:
    """The edges `(user, used)` that a longer way implies: what `reduced` of the core leaves out, some thirty times faster.

    What each node rests on is one integer with a bit per node, so that a union is one operation.
    """
    order = list(nx.topological_sort(graph))
    bit = {name: 1 << place for place, name in enumerate(order)}
    below: dict[str, int] = {}
    redundant: set[tuple[str, str]] = set()
    for name in reversed(order):
        indirect = 0
        for used in graph.successors(name):
            indirect |= below[used]
        redundant |= {(name, used) for used in graph.successors(name) if indirect & bit[used]}
        below[name] = indirect
        for used in graph.successors(name):
            below[name] |= bit[used]
    return redundant


def human_words(run: Run) -> dict[str, str]:
    """`accepted`, `rejected`, or `disputed` where people differ, by lemma; only what has taken effect counts."""
    newest: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in HumanVerdict.objects.filter(run=run, applied_seq__isnull=False).order_by("applied_seq"):
        newest[row.lemma][row.by] = row.accepted
    words = {frozenset([True]): "accepted", frozenset([False]): "rejected"}
    return {lemma: words.get(frozenset(said.values()), "disputed") for lemma, said in newest.items()}


def _evidence(edge: LemmaEdge) -> dict[str, Any]:
    return {"quote": edge.evidence.get("quote", ""), "where": edge.evidence.get("where", "")}


def _lemma(row: Lemma) -> dict[str, Any]:
    return {
        "kind": "lemma",
        "label": row.label,
        "number": row.number,
        "rollout": row.rollout,
        "round": row.round,
        "statement": row.statement,
        "status": row.status,
        "confidence": row.confidence,
        "low": row.low,
        "high": row.high,
        "passes": row.passes,
        "valid": row.valid,
        "total": row.total,
        "unscored": row.unscored,
        "origin": row.origin,
        "supersedes": row.supersedes,
        "merged_into": row.merged_into,
        "rollouts": row.found_in,
    }


def _proof(row: ProofVersion) -> dict[str, Any]:
    return {
        "kind": "proof",
        "label": f"Proof {row.name}",
        "number": 0,
        "rollout": row.rollout,
        "round": 0,
        "statement": "",
        "status": row.status or "proposed",
        "confidence": row.confidence,
        "revises": row.revises,
    }
