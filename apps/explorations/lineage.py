"""The lineage of the solutions of a run, as a graph in the format of the lemma graph (docs/graph_data.md).

Nodes are candidates, in rows by round, pairs of a knock-out, and memories after a round of evolution. Edges lead from a
solution to its successors, from both members of a pair to the pair, and through a memory to the candidates of the next round.
A fold over the events of candidates that loads only the beginnings of their texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from django.db.models.fields.json import KT
from django.db.models.functions import Substr

from apps.explorations.conversations import memory_verdict
from apps.explorations.solutions import selected_solution
from apps.reasoning.domain.kinds import Kind
from apps.runs.models import Run

PROBLEM = "problem"
SHORT = 160
_JUDGEMENTS = (
    Kind.CANDIDATE_SCORED, Kind.CANDIDATE_SCORE_DROPPED, Kind.CANDIDATE_JUDGED, Kind.MEMORY_STORED, Kind.POOL_KEPT,
    Kind.PAIR_DECIDED, Kind.PROOF_SELECTED,
)  # fmt: skip
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


@dataclass
class _Opinions:
    """Scores, checks and memory entry of one candidate."""

    scores: dict[int, float] = field(default_factory=dict)
    scale: float = 1.0
    passes: int = 0
    judged: int = 0
    unread: int = 0
    expected: int = 0
    kept: bool = False
    is_scored: bool = False
    remembered: str = ""

    def onto(self, node: LineageNode) -> None:
        """Write counts, confidence and words onto the node."""
        full = sum(score == self.scale for score in self.scores.values())
        node["passes"] = full if self.is_scored else self.passes
        node["valid"] = len(self.scores) if self.is_scored else self.judged
        node["total"] = node["valid"] + self.unread
        node["expected"] = max(self.expected, node["total"])
        if self.scores:
            mean = sum(self.scores.values()) / len(self.scores)
            node["confidence"] = mean / self.scale
            node["words"] = f"mean {mean:.2g} of {self.scale:g}, {len(self.scores)} report{'s' * (len(self.scores) != 1)}"
            node["words"] += f", {self.unread} not read" if self.unread else ""
        elif self.judged:
            node["confidence"] = self.passes / self.judged
            lost = f", {self.unread} not read" if self.unread else ""
            node["words"] = f"{self.passes} of {self.judged} checks passed{lost}"
        elif self.unread:
            node["unscored"] = "its reports could not be read"
        if self.remembered:
            node["words"] = self.remembered


class _Fold:
    """A fold over the events in order."""

    def __init__(self, run: Run) -> None:
        self.nodes: dict[str, LineageNode] = {PROBLEM: _node(PROBLEM, "problem", "Problem", 0, 0)}
        self.nodes[PROBLEM]["statement"] = run.problem_version.statement[:SHORT]
        self.edges: list[LineageEdge] = []
        self.opinions: dict[str, _Opinions] = {}
        self.latest: dict[str, str] = {}
        self.remembers: set[str] = set()
        self.last_round = 0
        self.selected_seq = 0

    def drafted(self, row: Mapping[str, Any]) -> None:
        """Add a candidate and the edges from its parents."""
        name = row["name"]
        if name in self.nodes:
            return
        node = _node(name, "candidate", name.removeprefix("c"), row["round"], row["seq"])
        node["call"], node["words"] = row["call"], _MADE_AS.get(row["made_as"], row["made_as"])
        node["statement"] = row["start"]
        self.nodes[name] = node
        self.opinions[name] = _Opinions()
        self.last_round = max(self.last_round, row["round"])
        known = [parent for parent in row["parents"] or () if parent in self.nodes]
        memory = f"memory/{row['round'] - 1}"
        shown = [parent for parent in known if f"{memory}<{parent}" in self.remembers]
        if shown:
            self.edges.append(self._edge(memory, name, row["seq"]))
        self.edges += [self._edge(parent, name, row["seq"], redundant=parent in shown) for parent in known]

    def judged(self, seq: int, kind: str, body: Mapping[str, Any]) -> None:
        """Add one event of `_JUDGEMENTS`; ignore unknown candidates."""
        if kind == Kind.PROOF_SELECTED:
            self.selected_seq = seq
        elif kind == Kind.PAIR_DECIDED:
            self._decided(seq, body)
        elif kind == Kind.POOL_KEPT:
            self._kept(seq, body)
        elif (opinions := self.opinions.get(body["candidate"])) is not None:
            self._touch(body["candidate"], seq)
            if kind == Kind.MEMORY_STORED:
                opinions.remembered = memory_verdict(body["correct"], body["ayes"], body["valid"])
                return
            if kind == Kind.CANDIDATE_JUDGED:
                opinions.judged += body["passed"] is not None
                opinions.passes += bool(body["passed"])
                opinions.unread += body["passed"] is None
                return
            opinions.is_scored = True
            if kind == Kind.CANDIDATE_SCORE_DROPPED:
                opinions.scores.pop(body["index"], None)
            elif body.get("score") is None:
                opinions.unread += 1
            else:
                opinions.scores[body["index"]], opinions.scale = body["score"], body["scale"]
            opinions.expected = max(opinions.expected, body.get("of", 0))

    def _kept(self, seq: int, body: Mapping[str, Any]) -> None:
        """Mark kept candidates; candidates in the memory lead to a memory node."""
        kept = [name for name in body["kept"] if name in self.opinions]
        for name in kept:
            self.opinions[name].kept = True
            self._touch(name, seq)
        if not any(self.opinions[name].remembered for name in kept):
            return
        memory = f"memory/{body['round']}"
        node = _node(memory, "memory", "Memory", body["round"], seq)
        node["words"] = f"{len(kept)} remembered after round {body['round']}"
        node["statement"] = "; ".join(f"{name}: {self.opinions[name].remembered}" for name in kept)[:SHORT]
        self.nodes[memory] = node
        self.edges += [self._edge(name, memory, seq) for name in kept]
        self.remembers |= {f"{memory}<{name}" for name in kept}

    def _decided(self, seq: int, body: Mapping[str, Any]) -> None:
        """Add a pair of the knock-out, with edges from the latest node of both members."""
        pair, winner = body["pair"], body["winner"]
        if not all(name in self.nodes for name in pair):
            return
        name = f"pair/{body['round']}/{pair[0]}/{pair[1]}"
        node = _node(name, "pair", winner.removeprefix("c"), self.last_round + body["round"], seq)
        node["words"], node["statement"] = f"decided by {body['by']}", f"{pair[0]} against {pair[1]}: {winner}"
        node["status"] = body["by"]
        self.nodes[name] = node
        for one in pair:
            kind = "uses" if one == winner else "loses"
            self.edges.append(self._edge(self.latest.get(one, one), name, seq, kind))
        self.latest[winner] = name

    def _touch(self, name: str, seq: int) -> None:
        self.nodes[name]["seq"] = seq

    def _edge(self, source: str, target: str, seq: int, kind: str = "uses", *, redundant: bool = False) -> LineageEdge:
        return {
            "id": f"{target}<{source}", "kind": kind, "source": source, "target": target, "evidence": [],
            "redundant": redundant, "contributes": False, "seq": seq,
        }  # fmt: skip


def lineage_data(run: Run, after: int = 0) -> LineageData:
    """The lineage of `run`; with `after`, only the changes of later events."""
    fold = _Fold(run)
    drafted = list(_drafted(run))
    at = 0
    for seq, kind, body in run.events.filter(kind__in=_JUDGEMENTS).order_by("seq").values_list("seq", "kind", "body"):
        while at < len(drafted) and drafted[at]["seq"] < seq:
            fold.drafted(drafted[at])
            at += 1
        fold.judged(seq, kind, body)
    for row in drafted[at:]:
        fold.drafted(row)
    selected = selected_solution(run) if fold.selected_seq else ""
    contributing = _rests_on(fold.edges, fold.latest.get(selected, selected)) if selected else set()
    for name, opinions in fold.opinions.items():
        opinions.onto(fold.nodes[name])
        fold.nodes[name]["status"] = "selected" if name == selected else "kept" if opinions.kept else ""
    for node in fold.nodes.values():
        node["contributes"] = node["id"] in contributing
    for edge in fold.edges:
        edge["contributes"] = edge["kind"] == "uses" and edge["target"] in contributing
    used = {edge["source"] for edge in fold.edges}
    return {
        "seq": run.last_seq,
        "after": after,
        "live": run.is_live,
        "base": f"/runs/{run.public_id}/",
        "selected_proof": selected,
        "rounds": max((node["round"] for node in fold.nodes.values()), default=0),
        "rollouts": 1,
        "nodes": [node for node in fold.nodes.values() if node["seq"] > after or not after],
        "edges": [edge for edge in fold.edges if edge["seq"] > after or not after],
        "contributing": sorted(contributing),
        "redundant": sorted(edge["id"] for edge in fold.edges if edge["redundant"]),
        "frontier": sorted(name for name in fold.opinions if name not in used),
    }


def _drafted(run: Run) -> Iterator[dict[str, Any]]:
    """The candidates with the first `SHORT` characters of their texts."""
    rows = run.events.filter(kind=Kind.CANDIDATE_DRAFTED).order_by("seq")
    read: Sequence[dict[str, Any]] = rows.annotate(start=Substr(KT("body__text"), 1, SHORT)).values(
        "seq", "start", "body__candidate", "body__parents", "body__made_as", "body__round", "body__call"
    )  # type: ignore[assignment]
    for row in read:
        yield {"name": row.pop("body__candidate"), **{name.removeprefix("body__"): value for name, value in row.items()}}


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
