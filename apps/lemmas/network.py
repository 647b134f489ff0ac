"""A consistent read of a run's rows as a graph of `apps.reasoning.graph`."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx

from apps.lemmas.formula_checks import check_outcomes
from apps.lemmas.models import HumanVerdict, Lemma, LemmaEdge, LemmaState, ProofVersion
from apps.processes.one_moment import one_moment
from apps.reasoning.graph.lemma_graph import draw_uses, representatives
from apps.reasoning.story.lemmas import words_of_people
from apps.runs.models import Run


@dataclass(frozen=True)
class RunGraph:
    """The rows of a run's lemma graph, shared by drawing, outline and exports of one response.

    `run` was read before the rows: they may be newer than its `last_seq`, never older. By lemma or proof, `human` has the
    verdicts of people, and `checks` the outcome and event of the formula check.
    """

    run: Run
    lemmas: list[Lemma]
    proofs: list[ProofVersion]
    uses: list[LemmaEdge]
    human: dict[str, str]
    checks: dict[str, tuple[str, int]]

    @cached_property
    def representatives(self) -> dict[str, str]:
        """By merged lemma, the lemma that represents it."""
        return representatives_among(self.lemmas)

    @cached_property
    def network(self) -> "nx.DiGraph[str]":
        """Lemmas and proofs, with edges from a used lemma to its user."""
        return self._drawn[0]

    @cached_property
    def sources(self) -> dict[tuple[str, str], str]:
        """Source of the edge by user and cited lemma. Omitted uses are missing."""
        return self._drawn[1]

    @cached_property
    def _drawn(self) -> "tuple[nx.DiGraph[str], dict[tuple[str, str], str]]":
        graph: nx.DiGraph[str] = nx.DiGraph(selected="")
        graph.add_nodes_from((lemma.lemma, _lemma(lemma)) for lemma in self.lemmas)
        graph.add_nodes_from((proof.proof, _proof(proof)) for proof in self.proofs)
        graph.graph["selected"] = next((proof.proof for proof in self.proofs if proof.selected), "")
        return graph, draw_uses(graph, [(edge.user, edge.used, {}) for edge in self.uses], self.representatives)


def run_graph(run: Run) -> RunGraph:
    """Read the graph of `run` consistently, each table once."""
    with one_moment():
        return RunGraph(
            run,
            list(Lemma.objects.filter(run=run)),
            list(ProofVersion.objects.filter(run=run)),
            list(LemmaEdge.objects.filter(run=run)),
            human_words(run),
            check_outcomes(run),
        )


def representatives_among(lemmas: Iterable[Lemma]) -> dict[str, str]:
    """By merged lemma, the lemma that represents it. Needs the merged lemmas and their targets only."""
    rows = list(lemmas)
    merged = {row.lemma: row.merged_into for row in rows if row.merged_into}
    holding = {row.lemma for row in rows if row.judged == LemmaState.VERIFIED and not row.is_retired}
    return representatives(merged, holding)


def redundant_uses(graph: "nx.DiGraph[str]") -> set[tuple[str, str]]:
    """The edges that a longer path implies: those that `reduced` of the core leaves out, about thirty times faster.

    The ancestors of a node are an integer with one bit per node, so that a union is one operation.
    """
    order = list(nx.topological_sort(graph))
    bit = {name: 1 << place for place, name in enumerate(order)}
    below: dict[str, int] = {}
    redundant: set[tuple[str, str]] = set()
    for name in order:
        indirect = 0
        for used in graph.predecessors(name):
            indirect |= below[used]
        redundant |= {(used, name) for used in graph.predecessors(name) if indirect & bit[used]}
        below[name] = indirect
        for used in graph.predecessors(name):
            below[name] |= bit[used]
    return redundant


def human_words(run: Run) -> dict[str, str]:
    """`accepted`, `rejected`, or `disputed` if people disagree, by lemma; only applied verdicts count."""
    applied = HumanVerdict.objects.filter(run=run, applied_seq__isnull=False).order_by("applied_seq")
    return words_of_people(applied.values_list("lemma", "by", "accepted"))


def _lemma(row: Lemma) -> dict[str, Any]:
    return {"kind": "lemma", "number": row.number, "rollout": row.rollout, "round": row.round, "status": row.status}


def _proof(row: ProofVersion) -> dict[str, Any]:
    return {"kind": "proof", "number": 0, "rollout": row.rollout, "round": 0, "status": row.status}
