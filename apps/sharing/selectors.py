"""What a link shows of a run, without calls, models, people, commands and costs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import networkx as nx

from apps.lemmas.models import Lemma, ProofVersion
from apps.lemmas.network import RunGraph
from apps.lemmas.outline import OutlineLevel
from apps.lemmas.outline import outline as outline_levels
from apps.lemmas.rows import shown_proof
from apps.lemmas.selectors import graph_data
from apps.lemmas.words import confidence_words
from apps.reasoning.graph.lemma_graph import proof_closure
from apps.runs.models import Run


@dataclass(frozen=True)
class SharedText:
    """A lemma or proof as a link shows it: its state in words, its steps, and the lemmas that it uses."""

    row: Lemma | ProofVersion
    state: str
    confidence: str
    steps: list[str]
    uses: list[Lemma]


@dataclass(frozen=True)
class SharedRun:
    """The page of a link: the proof, the lemmas that it rests on, each after those it uses, and the graph as a list."""

    proof: SharedText | None
    lemmas: list[SharedText]
    levels: list[OutlineLevel]


def shared_run(graph: RunGraph) -> SharedRun:
    """The texts of a run for the page of its link."""
    found = shown_proof(graph.proofs)
    path = proof_closure(graph.network)
    lemmas = {row.lemma: row for row in graph.lemmas if row.lemma in path}
    order = nx.topological_sort(graph.network.subgraph(lemmas))
    return SharedRun(
        _text(graph, found, found.proof) if found is not None else None,
        [_text(graph, lemmas[name], name) for name in order],
        outline_levels(graph),
    )


def shared_lemma(graph: RunGraph, name: str) -> SharedText | None:
    """A lemma of this run, or None."""
    return next((_text(graph, row, name) for row in graph.lemmas if row.lemma == name), None)


def shared_proof(graph: RunGraph, name: str) -> SharedText | None:
    """A proof of this run by its name (`2`), or None."""
    return next((_text(graph, row, row.proof) for row in graph.proofs if row.name == name), None)


def shared_graph(run: Run, base: str) -> dict[str, Any]:
    """The graph for the drawing (docs/graph_data.md), without the names of calls. `base` is the address of the link."""
    data = graph_data(run)
    return {**data, "base": base, "live": False, "nodes": [{**node, "call": ""} for node in data["nodes"]]}


def _text(graph: RunGraph, row: Lemma | ProofVersion, name: str) -> SharedText:
    uses = set(graph.network.predecessors(name)) if name in graph.network else set()
    return SharedText(row, _state(row), confidence_words(row) if row.total else "", _steps(row), _named(graph.lemmas, uses))


def _state(row: Lemma | ProofVersion) -> str:
    return row.state_words if isinstance(row, Lemma) else row.status or "not judged"


def _steps(row: Lemma | ProofVersion) -> list[str]:
    return row.steps or ([row.text] if isinstance(row, ProofVersion) else [])


def _named(lemmas: Iterable[Lemma], names: set[str]) -> list[Lemma]:
    return [row for row in lemmas if row.lemma in names]
