"""The lemma graph of a run as one dictionary, for the drawing, the API and the exports. Its shape: docs/graph_data.md."""

from typing import TypedDict, cast

from apps.lemmas.anchors import inside_formula
from apps.lemmas.models import Lemma, ProofVersion
from apps.lemmas.network import RunGraph, redundant_uses, run_graph
from apps.reasoning.graph.lemma_graph import frontier, proof_closure
from apps.runs.models import Run

PROBLEM = "problem"
SHORT_STATEMENT = 160


class GraphNode(TypedDict):
    """A node; `kind` is problem, lemma, human (a lemma that a person injected) or proof."""

    id: str
    kind: str
    label: str
    title: str
    number: int | None
    version: int
    rollout: int
    round: int
    call: str
    status: str
    confidence: float | None
    low: float | None
    high: float | None
    passes: int
    valid: int
    total: int
    expected: int
    unscored: str
    human: str
    check: str
    found_by: int
    supersedes: str
    merged_into: str
    statement: str
    contributes: bool
    first_seq: int
    seq: int


class GraphEdge(TypedDict):
    """`source` is used by `target`. Other kinds than `uses`: corrects, revises (old to new version), merges (into target).

    `named` is the id in the text of `target`: `source`, or a lemma that `source` represents.
    """

    id: str
    kind: str
    source: str
    target: str
    named: str
    evidence: list[str]
    redundant: bool
    contributes: bool
    first_seq: int
    seq: int


class GraphData(TypedDict):
    """The whole graph, or with `after` > 0 only nodes and edges that changed since; id lists are always complete."""

    seq: int
    after: int
    live: bool
    base: str
    selected_proof: str
    rounds: int
    stage: str
    rollouts: int
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    contributing: list[str]
    redundant: list[str]
    frontier: list[str]


def graph_data(run: Run, after: int = 0) -> GraphData:
    """The lemma graph of `run`; with `after`, only the changes of later events."""
    return data_of(run_graph(run), after)


def data_of(graph: RunGraph, after: int = 0) -> GraphData:
    """`graph_data` of loaded rows."""
    run, network = graph.run, graph.network
    contributing = proof_closure(network)
    edges = [*_uses(graph, contributing), *_links(graph)]
    last_round = max((lemma.round for lemma in graph.lemmas), default=0)
    nodes = [_problem_node(run)]
    nodes += [_lemma_node(lemma, graph.human.get(lemma.lemma, "")) for lemma in graph.lemmas]
    nodes += [_proof_node(proof, last_round) for proof in graph.proofs]
    for node in nodes:
        node["contributes"] = node["id"] in contributing
        node["check"], checked_seq = graph.checks.get(node["id"], ("", 0))
        node["seq"] = max(node["seq"], checked_seq)
    return {
        "seq": run.last_seq,
        "after": after,
        "live": run.is_live,
        "base": f"/runs/{run.public_id}/",
        "selected_proof": network.graph["selected"],
        "rounds": last_round,
        "stage": run.stage,
        "rollouts": len({lemma.rollout for lemma in graph.lemmas}),
        "nodes": [node for node in nodes if node["seq"] > after or not after],
        "edges": [edge for edge in edges if edge["seq"] > after or not after],
        "contributing": sorted(contributing),
        "redundant": [edge["id"] for edge in edges if edge["redundant"]],
        "frontier": sorted(frontier(network)),
    }


def _uses(graph: RunGraph, contributing: set[str]) -> list[GraphEdge]:
    """One edge for each user and name in its text, with all its evidence.

    An edge keeps its id when the named lemma is merged: its source changes, and readers of changes receive it again.
    """
    found: dict[tuple[str, str], GraphEdge] = {}
    for row in graph.uses:
        if source := graph.sources.get((row.user, row.used)):
            edge = found.setdefault((row.user, row.used), _edge("uses", source, row.user, row.seq, row.used))
            edge["seq"] = row.seq
            if quote := row.evidence.get("quote"):
                edge["evidence"].append(quote)
    moved_at = _moved_at(graph)
    redundant, drawn = redundant_uses(graph.network), set[tuple[str, str]]()
    for edge in found.values():
        ends = edge["source"], edge["target"]
        edge["seq"] = max(edge["seq"], moved_at.get(edge["named"], 0))
        if edge["source"] != graph.representatives.get(edge["named"], edge["named"]):
            edge["seq"] = graph.run.last_seq  # Its source differs because of a cycle, which any event may have closed.
        edge["redundant"] = ends in redundant or ends in drawn
        edge["contributes"] = edge["target"] in contributing
        drawn.add(ends)
    return list(found.values())


def _moved_at(graph: RunGraph) -> dict[str, int]:
    """By merged lemma, the newest event that may have changed its representative."""
    newest = {lemma.lemma: lemma.last_seq for lemma in graph.lemmas}
    into = {lemma.lemma: lemma.merged_into for lemma in graph.lemmas}
    found = {}
    for name in graph.representatives:
        chain = [name]
        while (after := into.get(chain[-1], "")) and after not in chain:
            chain.append(after)
        found[name] = max(newest.get(one, 0) for one in chain)
    return found


def _links(graph: RunGraph) -> list[GraphEdge]:
    """The links between versions, and from merged lemmas, without unknown nodes."""
    known, lemmas, proofs = graph.network, graph.lemmas, graph.proofs
    return [
        *(_edge("corrects", row.supersedes, row.lemma, row.first_seq) for row in lemmas if row.supersedes in known),
        *(_edge("merges", row.lemma, row.merged_into, row.last_seq) for row in lemmas if row.merged_into in known),
        *(_edge("revises", row.revises, row.proof, row.first_seq) for row in proofs if row.revises in known),
    ]


def _edge(kind: str, source: str, target: str, seq: int, named: str = "") -> GraphEdge:
    named = named or source
    return {
        "id": f"{kind}:{named}>{target}", "kind": kind, "source": source, "target": target, "named": named, "evidence": [],
        "redundant": False, "contributes": False, "first_seq": seq, "seq": seq,
    }  # fmt: skip


def _short(statement: str) -> str:
    """The beginning of a statement, without splitting a formula."""
    if len(statement) <= SHORT_STATEMENT:
        return statement
    end = SHORT_STATEMENT - 1
    while end and (inside_formula(statement, end) or not statement[end].isspace()):
        end -= 1
    return statement[:end].rstrip() + "…" if end else statement


#: A node before its own fields, which replace these. Exports keep this order.
_PLAIN: GraphNode = {
    "id": "", "kind": "", "label": "", "title": "", "number": None, "version": 1, "rollout": 0, "round": 0, "call": "",
    "status": "", "confidence": None, "low": None, "high": None, "passes": 0, "valid": 0, "total": 0, "expected": 0,
    "unscored": "", "human": "", "check": "", "found_by": 0, "supersedes": "", "merged_into": "", "statement": "",
    "contributes": False, "first_seq": 0, "seq": 0,
}  # fmt: skip


def _problem_node(run: Run) -> GraphNode:
    statement, version = _short(run.problem_version.statement), run.problem_version.number
    return {**_PLAIN, "id": PROBLEM, "kind": "problem", "label": "Problem", "version": version, "statement": statement}


def _row_node(row: Lemma | ProofVersion) -> GraphNode:
    """A node with every field that is a column of the same name."""
    columns = {name: value for name, value in vars(row).items() if name in _PLAIN}
    return cast(GraphNode, {**_PLAIN, **columns, "seq": row.last_seq})


def _lemma_node(lemma: Lemma, human: str) -> GraphNode:
    return {
        **_row_node(lemma), "id": lemma.lemma, "kind": "human" if lemma.origin == "human" else "lemma", "label": lemma.label,
        "title": lemma.short_title,
        "human": human, "found_by": lemma.rollouts_count, "statement": _short(lemma.statement),
    }  # fmt: skip


def _proof_node(proof: ProofVersion, last_round: int) -> GraphNode:
    return {
        **_row_node(proof), "id": proof.proof, "kind": "proof", "label": f"Proof {proof.name}", "round": last_round + 1,
        "found_by": 1, "statement": _short(proof.text),
    }  # fmt: skip
