"""Proof graphs of alethfeld (MIT, tobiasosborne/alethfeld): one JSON object with a theorem and its nodes.

Nodes become lemmas, their depth a round, dependencies uses; a status verified or rejected is one verifier's vote. A claim
uses the conclusions of the nodes below it (their `parent`).
"""

import json
from typing import Any

from apps.explorations.importing.claim_texts import claim_text
from apps.explorations.importing.claims import Ballot, Claim, Claims, claim_id, words_of
from apps.explorations.importing.imported_run import ImportedRun, LogFile, LogWrong, listed, moment
from apps.reasoning.reading.decoded import keepable
from apps.reasoning.texts.latex import macros_shown

FORMAT = "proof graph"
_KINDS = {"assumption": "Assumption", "local-assume": "Assumption", "definition": "Definition"}
_STATUS = {"verified": True, "rejected": False}
_KNOWN = {"theorem", "nodes", "archived-nodes", "obligations", "version", "lemmas", "metadata", "graph-id"}


def recognises(file: LogFile) -> bool:
    """Whether the file looks like a proof graph."""
    return file.text.lstrip().startswith("{") and '"theorem"' in file.text and '"nodes"' in file.text


def read(file: LogFile) -> ImportedRun:
    """The run of the graph. Raises `LogWrong` for invalid JSON or a missing theorem."""
    try:
        graph = keepable(json.loads(file.text, strict=False))
    except (ValueError, RecursionError) as error:
        place = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise LogWrong(f"{file.name} was not imported: its JSON is truncated or invalid{place}.") from error
    theorem = graph.get("theorem") if isinstance(graph, dict) else None
    statement = macros_shown(str(theorem.get("statement") or "").strip()) if isinstance(theorem, dict) else ""
    if not statement:
        raise LogWrong(f"{file.name} was not imported: it has no theorem with a statement.")
    imported = ImportedRun(format=FORMAT, scaffold="proof_graph", statement=statement, roles={"prover": "unknown model"})
    claims = Claims(imported)
    nodes, archived = _nodes(graph, "nodes", imported), _nodes(graph, "archived-nodes", imported)
    admitted = {
        claim_id(one.get("node-id")) for one in listed(graph, "obligations", "obligations", imported) if isinstance(one, dict)
    }
    order = sorted((nodes | archived), key=lambda name: _order(name, nodes.get(name) or archived[name]))
    names = {name: f"Lemma {number}" for number, name in enumerate(order, start=1)}
    for name in order:
        claims.add(_claim(name, nodes.get(name) or archived[name], nodes, names, admitted))
    for name in archived:
        claims.retire(name, "archived in the file")
    for name, node in nodes.items():
        if (holds := _STATUS.get(str(node.get("status")))) is not None:
            claims.vote(Ballot(name, holds, words_of(node, status="Status in the file", taint="Taint")))
    for name in sorted(set(graph) - _KNOWN):
        if graph[name]:
            imported.unread(f"“{name[:40]}”", "a part that cannot be imported")
    _conclude(claims, nodes)
    return imported


def _nodes(graph: dict[str, Any], part: str, imported: ImportedRun) -> dict[str, dict[str, Any]]:
    """Nodes by id; invalid nodes are reported in the run."""
    found = graph.get(part) or {}
    items = found.items() if isinstance(found, dict) else ((str(number), one) for number, one in enumerate(found))
    nodes: dict[str, dict[str, Any]] = {}
    for key, node in items if isinstance(found, dict | list) else ():
        name = claim_id(node.get("id", key)) if isinstance(node, dict) else ""
        if not name or not str(node.get("statement") or "").strip():
            imported.unread(f"{part}, {str(key)[:60]}", "a node without an id or a statement")
        else:
            nodes[name] = {**node, "dependencies": listed(node, "dependencies", f"node {name}", imported)}
    return nodes


def _order(name: str, node: dict[str, Any]) -> tuple[str, int, str]:
    order = node.get("display-order")
    return str(_provenance(node).get("created-at") or ""), order if isinstance(order, int) else 0, name


def _provenance(node: dict[str, Any]) -> dict[str, Any]:
    found = node.get("provenance")
    return found if isinstance(found, dict) else {}


def _claim(
    name: str, node: dict[str, Any], nodes: dict[str, dict[str, Any]], names: dict[str, str], admitted: set[str]
) -> Claim:
    depth = node.get("depth")
    about = words_of(node, justification="Justified by", taint="Taint")
    if name in admitted or node.get("status") == "admitted":
        about = f"{about} Admitted without proof.".strip()
    statement, cited = claim_text(str(node["statement"]), names)
    uses = [(used, cited.pop(used, f"dependency {used}")) for used in map(claim_id, node["dependencies"]) if used]
    uses += [(used, words) for used, words in cited.items() if used != name]
    uses += [(child, f"it concludes the proof of {name}") for child in _conclusions(name, nodes)]
    return Claim(
        id=name,
        statement=_kind_words(node) + statement,
        at=moment(_provenance(node).get("created-at")),
        depth=depth + 1 if isinstance(depth, int) and 0 <= depth < 1000 else 1,
        about=about,
        uses=uses,
        supersedes=claim_id(_provenance(node).get("revision-of")),
        where=f"node {name}",
    )


def _kind_words(node: dict[str, Any]) -> str:
    """What a node is, if it is not a claim: "Assumption A2. "."""
    word, label = _KINDS.get(str(node.get("type")), ""), str(node.get("assumption-label") or "").strip()
    return f"{word} {label}. ".lstrip() if label else f"{word}. " if word else ""


def _conclusions(name: str, nodes: dict[str, dict[str, Any]]) -> list[str]:
    """The nodes below `name` that no other node below it depends on."""
    below = {child: node for child, node in nodes.items() if claim_id(node.get("parent")) == name}
    used = {claim_id(one) for node in below.values() for one in node["dependencies"]}
    return [child for child in below if child not in used]


def _conclude(claims: Claims, nodes: dict[str, dict[str, Any]]) -> None:
    """Add the proof from the outermost conclusions. It is accepted if all of them are verified and clean."""
    qed = [
        name for name, node in nodes.items() if node.get("type") == "qed" and not node.get("parent") and name in claims.known
    ]
    ends = qed or [name for name in claims.sinks() if name in nodes]
    states = {str(nodes[name].get("status")) for name in ends}
    clean = all(nodes[name].get("taint") in (None, "clean") for name in ends)
    if states == {"verified"} and clean:
        claims.conclude(ends, True, "The imported file marks the conclusion as verified and clean.")
    elif "rejected" in states:
        claims.conclude(ends, False, "The imported file marks the conclusion as rejected.")
    else:
        words = (
            "is verified in the file, but rests on what is not" if states == {"verified"} else "is not yet verified in the file"
        )
        claims.conclude(ends, None, f"Its conclusion {words}.")
