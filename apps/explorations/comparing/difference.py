"""The difference of the lemma graphs of two runs as one graph: what both have, what was added, what is gone.

Its nodes and edges have the fields of `graph.json` (docs/graph_data.md) and some more (docs/comparing.md).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict

from django.urls import reverse

from apps.explorations.comparing.lemma_lists import Key, decisions_on, groups_in
from apps.lemmas.graph_data import PROBLEM, GraphEdge, GraphNode, data_of
from apps.lemmas.network import RunGraph, run_graph
from apps.reasoning.graph.statements import normalise_statement
from apps.runs.models import Run
from apps.runs.selectors import INHERITED

Change = Literal["same", "added", "gone", "verdict"]
#: Prefix of the ids of nodes that only the earlier run has.
BEFORE = "before:"


class ChangedNode(GraphNode):
    """A node of one run or of both. `was`: its state in the earlier run where it differs. `trunk`: from before the fork."""

    change: Change
    was: str
    now: str
    trunk: bool
    url: str
    before_url: str


class ChangedEdge(GraphEdge):
    """An edge of one run or of both."""

    change: Change


class Difference(TypedDict):
    """The merged graph. `counts`: nodes by change, those of the trunk under `trunk`."""

    nodes: list[ChangedNode]
    edges: list[ChangedEdge]
    rounds: int
    counts: dict[str, int]


def difference_of(before: Run, after: Run) -> Difference:
    """What `after` has, has not, and judges differently than `before`. A fork is best compared with its parent as `before`."""
    old, new = run_graph(before), run_graph(after)
    old_data, new_data = data_of(old), data_of(new)
    old_nodes = {node["id"]: node for node in old_data["nodes"]}
    matched = _matched(old, new)
    trunk = _trunk(old, new, matched)
    names = {was: now for now, was in matched.items()}
    nodes = [_present(node, old_nodes.get(matched.get(node["id"], "")), before, after, trunk) for node in new_data["nodes"]]
    nodes += [_gone(node, before) for node in old_data["nodes"] if node["id"] not in names]
    rounds = max(old_data["rounds"], new_data["rounds"])
    for node in nodes:
        node["round"] = rounds + 1 if node["kind"] == "proof" else node["round"]
    counts = Counter[str](node["change"] for node in nodes if node["id"] != PROBLEM)
    counts["trunk"] = sum(node["trunk"] for node in nodes)
    return {
        "nodes": nodes,
        "edges": list(_edges(old_data["edges"], new_data["edges"], names)),
        "rounds": rounds,
        "counts": dict(counts),
    }


def _matched(old: RunGraph, new: RunGraph) -> dict[str, str]:
    """By node of the new graph, the node of the old one that says the same. Each is used once.

    Equal ids with equal statements come first, except where people parted them, then lemmas of one group in their order, then
    proofs of equal text.
    """
    decisions = decisions_on([old.run, new.run])
    parted = {
        frozenset(((pair.first_run_id, pair.first_lemma), (pair.second_run_id, pair.second_lemma)))
        for pair in decisions if not pair.is_same
    }  # fmt: skip
    old_texts, new_texts = _texts(old), _texts(new)
    found = {
        name: name for name, text in new_texts.items()
        if old_texts.get(name) == text and frozenset(((old.run.pk, name), (new.run.pk, name))) not in parted
    } | {PROBLEM: PROBLEM}  # fmt: skip
    left = _unmatched(old, found.values()), _unmatched(new, found)
    for group in groups_in(left[0] | left[1], new.run, decisions):
        sides = defaultdict(list)
        for run, name in group.keys:
            sides[run].append(name)
        found |= dict(zip(sides[new.run.pk], sides[old.run.pk], strict=False))
    used = set(found.values())
    by_text = {old_texts[proof.proof]: proof.proof for proof in old.proofs if proof.proof not in used}
    for proof in new.proofs:
        if proof.proof not in found and (was := by_text.pop(new_texts[proof.proof], "")):
            found[proof.proof] = was
    return found


def _texts(graph: RunGraph) -> dict[str, str]:
    lemmas = {row.lemma: normalise_statement(row.statement) for row in graph.lemmas}
    return lemmas | {row.proof: normalise_statement(row.text) for row in graph.proofs}


def _unmatched(graph: RunGraph, matched: Iterable[str]) -> dict[Key, Any]:
    known = set(matched)
    return {(graph.run.pk, row.lemma): row for row in graph.lemmas if row.lemma not in known}


def _trunk(old: RunGraph, new: RunGraph, matched: Mapping[str, str]) -> set[str]:
    """The nodes of the new graph whose calls were taken over with the text that they have in the old run."""
    taken = set(new.run.steps.filter(INHERITED, kind="call").values_list("key", "text_sha"))
    shared = {key for key, _ in taken.intersection(old.run.steps.filter(kind="call").values_list("key", "text_sha"))}
    calls = {row.lemma: row.call for row in new.lemmas} | {row.proof: row.call for row in new.proofs}
    return {name for name, was in matched.items() if name == was and calls.get(name, "") in shared}


def _state(node: GraphNode) -> str:
    """The verdict in words, that of people included."""
    words = node["status"] or ("" if node["kind"] == PROBLEM else "not yet judged")
    return f"{words}, {node['human']} by people" if node["human"] else words.replace("proposed", "not yet verified")


def _present(node: GraphNode, was: GraphNode | None, before: Run, after: Run, trunk: set[str]) -> ChangedNode:
    change: Change = "added" if was is None else "verdict" if _state(was) != _state(node) else "same"
    return {
        **node,
        "change": change,
        "was": _state(was) if was is not None and change == "verdict" else "",
        "now": _state(node),
        "trunk": node["id"] in trunk,
        "url": _url(after, node),
        "before_url": "" if was is None else _url(before, was),
    }


def _gone(node: GraphNode, before: Run) -> ChangedNode:
    return {
        **node,
        "id": BEFORE + node["id"],
        "change": "gone",
        "was": _state(node),
        "now": "",
        "trunk": False,
        "url": "",
        "before_url": _url(before, node),
    }


def _url(run: Run, node: GraphNode) -> str:
    if node["kind"] == PROBLEM:
        return ""
    kind, name = ("proof_panel", node["id"].partition("/")[2]) if node["kind"] == "proof" else ("lemma_panel", node["id"])
    return reverse(f"lemmas:{kind}", args=[run.public_id, name])


def _edges(old: Iterable[GraphEdge], new: Iterable[GraphEdge], names: Mapping[str, str]) -> Iterable[ChangedEdge]:
    """The edges of both graphs between nodes of the merged one, each once; redundant ones are left out."""
    moved = {(edge["kind"], *(names.get(end, BEFORE + end) for end in (edge["source"], edge["target"]))): edge for edge in old}
    kept = {(edge["kind"], edge["source"], edge["target"]): edge for edge in new}
    for ends, edge in kept.items():
        if not edge["redundant"]:
            yield {**edge, "change": "same" if ends in moved else "added"}
    for (kind, source, target), edge in moved.items():
        if not edge["redundant"] and (kind, source, target) not in kept:
            moved_edge: GraphEdge = {**edge, "id": f"{BEFORE}{edge['id']}", "source": source, "target": target}
            yield {**moved_edge, "change": "gone"}
