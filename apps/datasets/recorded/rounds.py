"""Rounds of a run with lemmas, as input of OREAL-H (Intern-S1-MO §4.3): lemmas of each round, the lemma graph, the proof.

A run is one trajectory: its rounds in order, then its selected proof, with the first version as the answer and later ones as
revisions. Lemmas with equal statements are one node over all runs of a problem. A lemma is valid if it passed at least half of
its votes. A merged lemma is replaced by its representative.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

from apps.datasets.recorded.recorded import Recorded
from apps.lemmas.models import Lemma, LemmaEdge
from apps.lemmas.network import representatives_among
from apps.reasoning.graph.statements import normalise_statement

VALID_FROM = 0.5
REASONER, SUMMARISER = "reasoner", "summarizer"


@dataclass
class Rounds:
    """Rounds of a run. `calls` with their facts; `votes` of the answer; `reward` 1 where the run's proof was accepted.

    `rollouts`: number of parallel explorations.
    """

    calls: list[tuple[str, dict[str, Any]]]
    votes: tuple[int, int] | None
    reward: float
    derived: list[tuple[str, str]]
    used: list[str]
    answer: str
    rollouts: int


def rounds_of(recorded: Recorded) -> Rounds | None:
    """Rounds of a recorded run; None for a run without rounds."""
    reasons = sorted(
        (call for call in recorded.calls.values() if call.role == REASONER), key=lambda call: (call.round, call.rollout)
    )
    if not reasons:
        return None
    rows = list(recorded.run.lemmas.all())
    names = {row.lemma: _node(row) for row in rows}
    valid = {row.lemma for row in rows if _is_valid(row)}
    by = representatives_among(rows)
    edges = [(edge.user, by.get(edge.used, edge.used)) for edge in LemmaEdge.objects.filter(run=recorded.run)]
    summaries = {(call.round, call.rollout): call for call in recorded.calls.values() if call.role == SUMMARISER}
    found: list[tuple[str, dict[str, Any]]] = []
    for call in reasons:
        summary = summaries.get((call.round, call.rollout))
        well_formed = summary is not None and summary.key not in recorded.unread
        new = [row for row in rows if (row.round, row.rollout) == (call.round, call.rollout) and row.lemma in valid]
        parents = {names[used] for user, used in edges if used in valid and user in {row.lemma for row in new}}
        more = {"lemmas": sorted({_node(row) for row in new}), "parents": sorted(parents), "well_formed": well_formed}
        found.append((call.key, {"kind": "round", **more}))
        if summary is not None:
            found.append((summary.key, {"kind": "summary", "well_formed": well_formed}))
    last = recorded.solutions.get(recorded.selected) or next(reversed(recorded.solutions.values()), None)
    versions = recorded.line(last) if last else []
    for place, solution in enumerate(versions):
        kind = "revision" if place else "answer"
        well_formed = solution.call not in recorded.unread
        found.append((solution.call, {"kind": kind, "votes": solution.votes, "well_formed": well_formed}))
    proofs = {solution.id for solution in versions}
    return Rounds(
        calls=found,
        votes=versions[0].votes if versions else _no_proof(recorded),
        reward=float(any(solution.accepted for solution in versions)),
        derived=sorted({(names[used], names[user]) for user, used in edges if user in valid and used in valid}),
        used=sorted({names[used] for user, used in edges if user in proofs and used in valid}),
        answer=versions[0].text if versions else "",
        rollouts=len({call.rollout for call in reasons}),
    )


def _no_proof(recorded: Recorded) -> tuple[int, int]:
    """Votes of a run without a proof: all failed."""
    return 0, int((recorded.run.spec.get("params") or {}).get("proof_votes") or 4)


def _is_valid(row: Lemma) -> bool:
    return row.confidence is not None and row.confidence >= VALID_FROM and not row.is_retired


def _node(row: Lemma) -> str:
    return hashlib.sha256(normalise_statement(row.statement).encode()).hexdigest()[:16]
