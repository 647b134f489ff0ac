"""The lineage of the solutions of a run, as a graph in the format of the lemma graph (docs/graph_data.md).

Nodes are candidates, in rows by round, pairs of a knock-out, and memories after a round of evolution. Edges lead from a
solution to its successors, from both members of a pair to the pair, and through a memory to the candidates of the next round.
Drawn from the run's story, of which only the beginnings of the solutions' texts are loaded.
"""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, TypedDict

from django.db.models.fields.json import KT
from django.db.models.functions import Substr

from apps.explorations.candidates.solutions import selected_solution
from apps.reasoning.domain.candidate_events import CandidateDrafted, PoolKept
from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.story.candidates import Candidate, Candidates, Duel
from apps.reasoning.story.parts import Numbered
from apps.reasoning.story.run_story import fold
from apps.reasoning.story.vocabulary import event_from
from apps.runs.models import Run, RunEvent

PROBLEM = "problem"
SHORT = 160
_OTHERS = Candidates.KINDS - {Kind.CANDIDATE_DRAFTED} | {Kind.PROOF_SELECTED}
_MADE_AS = {
    "solution": "written from scratch",
    "improvement": "improved",
    "refinement": "refined",
    "correction": "corrected",
    "aggregate": "made from several",
}


class LineageNode(TypedDict):
    """A node; `kind` is problem, candidate, pair or memory. Fields as in the lemma graph; `words` describe the state."""

    id: str
    kind: str
    label: str
    number: int | None
    version: int
    rollout: int
    round: int
    call: str
    status: str
    words: str
    confidence: float | None
    passes: int
    valid: int
    total: int
    expected: int
    unscored: str
    human: str
    found_by: int
    statement: str
    contributes: bool
    first_seq: int
    seq: int


class LineageEdge(TypedDict):
    """`target` was made from `source`. Kinds: uses, and loses (from the loser of a pair to the pair)."""

    id: str
    kind: str
    source: str
    target: str
    evidence: list[str]
    redundant: bool
    contributes: bool
    seq: int


class LineageData(TypedDict):
    """The whole graph, or with `after` > 0 the changes since that event."""

    seq: int
    after: int
    live: bool
    base: str
    selected_proof: str
    rounds: int
    rollouts: int
    nodes: list[LineageNode]
    edges: list[LineageEdge]
    contributing: list[str]
    redundant: list[str]
    frontier: list[str]


class _Drawing:
    """The nodes and edges of a story, in the order of its events."""

    def __init__(self, run: Run, candidates: Candidates) -> None:
        self.nodes: dict[str, LineageNode] = {PROBLEM: _node(PROBLEM, "problem", "Problem", 0, 0)}
        self.nodes[PROBLEM]["statement"] = run.problem_version.statement[:SHORT]
        self.edges: list[LineageEdge] = []
        self.latest: dict[str, str] = {}
        self.candidates = candidates
        self._remembers: set[str] = set()
        self._last_round = 0
        moments: list[Numbered[Any]] = [(one.first_seq, one) for one in candidates.by_id.values()]
        moments += [*candidates.pools, *((duel.seq, duel) for duel in candidates.duels)]
        for seq, one in sorted(moments, key=itemgetter(0)):
            match one:
                case Candidate():
                    self._candidate(seq, one)
                case PoolKept():
                    self._memory(seq, one)
                case Duel():
                    self._pair(seq, one)

    def _candidate(self, seq: int, one: Candidate) -> None:
        """Add a candidate and the edges from its parents."""
        node = self.nodes[one.id] = _node(one.id, "candidate", one.id.removeprefix("c"), one.round, seq)
        node["call"], node["statement"], node["seq"] = one.call, one.text, one.last_seq
        node["words"] = _words(one) or _MADE_AS[one.made_as]
        node["passes"], node["valid"], node["total"], node["expected"] = one.passes, one.valid, one.total, one.expected
        node["confidence"] = one.confidence
        if one.unread and not one.valid:
            node["unscored"] = "its reports could not be read"
        self._last_round = max(self._last_round, one.round)
        known = [parent for parent in one.parents if parent in self.nodes]
        memory = f"memory/{one.round - 1}"
        shown = [parent for parent in known if f"{memory}<{parent}" in self._remembers]
        if shown:
            self.edges.append(self._edge(memory, one.id, seq))
        self.edges += [self._edge(parent, one.id, seq, redundant=parent in shown) for parent in known]

    def _memory(self, seq: int, pool: PoolKept) -> None:
        """Candidates in the memory lead to a memory node."""
        kept = [one for name in pool.kept if (one := self.candidates.by_id.get(name)) and one.first_seq < seq]
        remembered = {one.id: one.remembered if one.memory_seq < seq else "" for one in kept}
        if not any(remembered.values()):
            return
        memory = f"memory/{pool.round}"
        node = self.nodes[memory] = _node(memory, "memory", "Memory", pool.round, seq)
        node["words"] = f"{len(kept)} remembered after round {pool.round}"
        node["statement"] = "; ".join(f"{name}: {words}" for name, words in remembered.items())[:SHORT]
        self.edges += [self._edge(name, memory, seq) for name in remembered]
        self._remembers |= {f"{memory}<{name}" for name in remembered}

    def _pair(self, seq: int, duel: Duel) -> None:
        """Add a pair of the knock-out, with edges from the latest node of both members."""
        pair, winner = duel.pair, duel.winner
        if not all(name in self.nodes for name in pair):
            return
        name = f"pair/{duel.round}/{pair[0]}/{pair[1]}"
        node = self.nodes[name] = _node(name, "pair", winner.removeprefix("c"), self._last_round + duel.round, seq)
        node["words"], node["statement"] = f"decided by {duel.by}", f"{pair[0]} against {pair[1]}: {winner}"
        node["status"] = duel.by
        for one in pair:
            kind = "uses" if one == winner else "loses"
            self.edges.append(self._edge(self.latest.get(one, one), name, seq, kind))
        self.latest[winner] = name

    def _edge(self, source: str, target: str, seq: int, kind: str = "uses", *, redundant: bool = False) -> LineageEdge:
        return {
            "id": f"{target}<{source}", "kind": kind, "source": source, "target": target, "evidence": [],
            "redundant": redundant, "contributes": False, "seq": seq,
        }  # fmt: skip


def _words(one: Candidate) -> str:
    """What was found about a candidate; "" before its first report that counts."""
    lost = f", {one.unread} not read" if one.unread else ""
    if one.remembered:
        return one.remembered
    if one.mean is not None:
        return f"mean {one.mean:.2g} of {one.scale:g}, {one.valid} report{'s' * (one.valid != 1)}{lost}"
    return f"{one.passes} of {one.valid} checks passed{lost}" if one.valid else ""


def lineage_data(run: Run, after: int = 0) -> LineageData:
    """The lineage of `run`; with `after`, only the changes of later events."""
    others = RunEvent.objects.filter(run=run, kind__in=_OTHERS).values_list("seq", "kind", "body")
    judged = [(seq, event_from(kind, body)) for seq, kind, body in others]
    story = fold(sorted([*_drafted(run), *judged], key=itemgetter(0)))
    drawing, candidates = _Drawing(run, story.candidates), story.candidates.by_id
    selected = selected_solution(run) if story.course.selected else ""
    contributing = _rests_on(drawing.edges, drawing.latest.get(selected, selected)) if selected else set()
    for name, one in candidates.items():
        drawing.nodes[name]["status"] = "selected" if name == selected else "kept" if one.kept else ""
    for node in drawing.nodes.values():
        node["contributes"] = node["id"] in contributing
    for edge in drawing.edges:
        edge["contributes"] = edge["kind"] == "uses" and edge["target"] in contributing
    used = {edge["source"] for edge in drawing.edges}
    return {
        "seq": run.last_seq,
        "after": after,
        "live": run.is_live,
        "base": f"/runs/{run.public_id}/",
        "selected_proof": selected,
        "rounds": max((node["round"] for node in drawing.nodes.values()), default=0),
        "rollouts": 1,
        "nodes": [node for node in drawing.nodes.values() if node["seq"] > after or not after],
        "edges": [edge for edge in drawing.edges if edge["seq"] > after or not after],
        "contributing": sorted(contributing),
        "redundant": sorted(edge["id"] for edge in drawing.edges if edge["redundant"]),
        "frontier": sorted(name for name in candidates if name not in used),
    }


def _drafted(run: Run) -> Iterator[Numbered[Event]]:
    """The drafts with the first `SHORT` characters of their texts, without steps."""
    names = ("candidate", "parents", "made_as", "round", "call")
    rows = run.events.filter(kind=Kind.CANDIDATE_DRAFTED).annotate(start=Substr(KT("body__text"), 1, SHORT))
    for seq, start, *values in rows.values_list("seq", "start", *(f"body__{name}" for name in names)):
        yield seq, CandidateDrafted(text=start, steps=(), **dict(zip(names, values, strict=True)))


def _rests_on(edges: Sequence[LineageEdge], name: str) -> set[str]:
    """`name` and its ancestors over "uses" edges."""
    sources: dict[str, list[str]] = {}
    for edge in edges:
        if edge["kind"] == "uses":
            sources.setdefault(edge["target"], []).append(edge["source"])
    found, open_ = {name}, [name]
    while open_:
        new = [source for source in sources.get(open_.pop(), []) if source not in found]
        found.update(new)
        open_ += new
    return found


def _node(name: str, kind: str, label: str, round_: int, seq: int) -> LineageNode:
    return {
        "id": name, "kind": kind, "label": label, "number": None, "version": 1, "rollout": 0, "round": round_, "call": "",
        "status": "", "words": "", "confidence": None, "passes": 0, "valid": 0, "total": 0, "expected": 0, "unscored": "",
        "human": "", "found_by": 1, "statement": "", "contributes": False, "first_seq": seq, "seq": seq,
    }  # fmt: skip
