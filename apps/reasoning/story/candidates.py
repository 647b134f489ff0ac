"""Whole solutions of a run: lineage, reports, memory, pools, groups, the knock-out and states."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.reasoning.domain.agent_events import MemoryStored
from apps.reasoning.domain.candidate_events import (
    CandidateDrafted,
    CandidateJudged,
    CandidateKind,
    CandidateScored,
    GroupsFormed,
    PairDecided,
    PairJudged,
    PoolKept,
    ScoreDropped,
    StateWritten,
    candidate_order,
)
from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.story.parts import Numbered, Part

Report = CandidateScored | CandidateJudged


@dataclass
class Candidate:
    """A solution and what was found about it; the first fields are those of `CandidateDrafted`.

    `reports` include those in `dropped` (reason by index); `scores`, by index, do not; `mean` is theirs, of `scale`.
    `memory` is its entry in the memory.
    """

    candidate: str
    made_as: CandidateKind
    text: str
    steps: tuple[str, ...]
    call: str
    round: int
    parents: tuple[str, ...]
    own_score: float | None
    read_as: str
    first_seq: int
    last_seq: int
    children: list[str] = field(default_factory=list)
    reports: list[Numbered[Report]] = field(default_factory=list)
    scores: dict[int, float] = field(default_factory=dict)
    mean: float | None = None
    dropped: dict[int, str] = field(default_factory=dict)
    scale: float = 1.0
    wanted: int = 0
    kept: bool = False
    memory: MemoryStored | None = None
    memory_seq: int = 0

    @property
    def id(self) -> str:
        return self.candidate

    @functools.cached_property
    def order(self) -> tuple[int, ...]:
        """As of `candidates.desk.Candidate`."""
        return candidate_order(self.candidate)

    @property
    def is_scored(self) -> bool:
        """Whether its reports have scores, instead of a pass or a fail."""
        return any(isinstance(report, CandidateScored) for _, report in self.reports)

    @property
    def judgements(self) -> list[CandidateJudged]:
        """Reports with a pass or a fail."""
        return [one for _, one in self.reports if isinstance(one, CandidateJudged) and one.passed is not None]

    @property
    def passes(self) -> int:
        """Passes, or full scores."""
        if self.is_scored:
            return sum(score == self.scale for score in self.scores.values())
        return sum(bool(one.passed) for one in self.judgements)

    @property
    def valid(self) -> int:
        """Reports that count."""
        return len(self.scores) if self.is_scored else len(self.judgements)

    @property
    def unread(self) -> int:
        """Reports that could not be read."""
        return sum(bool(report.unscored) for _, report in self.reports)

    @property
    def total(self) -> int:
        return self.valid + self.unread

    @property
    def expected(self) -> int:
        """Reports asked for, as far as known."""
        return max(self.wanted, self.total)

    @property
    def confidence(self) -> float | None:
        """Share of the full score or of passes; None without a report that counts."""
        if self.is_scored:
            return None if self.mean is None else self.mean / self.scale
        return self.passes / self.valid if self.valid else None

    @property
    def remembered(self) -> str:
        """The verdict of its entry in the memory, in words; "" without one."""
        return memory_verdict(self.memory) if self.memory else ""


def memory_verdict(memory: MemoryStored) -> str:
    """Combined verdict of the reports on a solution in the memory, in words."""
    if not memory.valid:
        return "no report could be read"
    word = {True: "judged correct", False: "judged incorrect", None: "undecided"}[memory.correct]
    return f"{word}, {memory.ayes} of {memory.valid}"


@dataclass(frozen=True)
class Duel:
    """A pair of the knock-out: winner and deciding rule; `orders` are its comparisons."""

    seq: int
    round: int
    pair: tuple[str, str]
    winner: str
    by: str
    orders: tuple[PairJudged, ...] = ()


@dataclass(frozen=True)
class State:
    """State after a turn of a reasoning cache; `before` is the state before the turn."""

    turn: int
    text: str
    call: str
    before: str


@dataclass
class Candidates(Part):
    """Candidates by id, in the order of their drafts. `comparisons` include those of open pairs."""

    KINDS = frozenset(
        {
            Kind.CANDIDATE_DRAFTED, Kind.CANDIDATE_SCORED, Kind.CANDIDATE_SCORE_DROPPED, Kind.CANDIDATE_JUDGED,
            Kind.MEMORY_STORED, Kind.POOL_KEPT, Kind.POOL_GROUPED, Kind.PAIR_JUDGED, Kind.PAIR_DECIDED, Kind.STATE_WRITTEN,
        }
    )  # fmt: skip

    by_id: dict[str, Candidate] = field(default_factory=dict)
    pools: list[Numbered[PoolKept]] = field(default_factory=list)
    groups: GroupsFormed | None = None
    comparisons: list[PairJudged] = field(default_factory=list)
    duels: list[Duel] = field(default_factory=list)
    states: dict[int, State] = field(default_factory=dict)
    _open: dict[frozenset[str], list[PairJudged]] = field(default_factory=dict)

    def add(self, seq: int, event: Event) -> None:
        match event:
            case CandidateDrafted():
                self._draft(seq, event)
            case CandidateScored() | CandidateJudged() | ScoreDropped() | MemoryStored():
                if candidate := self.by_id.get(event.candidate):
                    candidate.last_seq = seq
                    _opine(candidate, seq, event)
            case PoolKept():
                self.pools.append((seq, event))
                for candidate in [self.by_id[name] for name in event.kept if name in self.by_id]:
                    candidate.kept, candidate.last_seq = True, seq
            case GroupsFormed():
                self.groups = event
            case PairJudged():
                self.comparisons.append(event)
                self._open.setdefault(frozenset((event.first, event.second)), []).append(event)
            case PairDecided():
                orders = tuple(self._open.pop(frozenset(event.pair), ()))
                self.duels.append(Duel(seq, event.round, event.pair, event.winner, event.by, orders))
            case StateWritten():
                before = self.states[max(self.states)].text if self.states else ""
                self.states[event.turn] = State(event.turn, event.text, event.call, before)

    def _draft(self, seq: int, event: CandidateDrafted) -> None:
        if event.candidate in self.by_id:
            return
        self.by_id[event.candidate] = Candidate(**dict(event), first_seq=seq, last_seq=seq)
        for parent in event.parents:
            if parent in self.by_id:
                self.by_id[parent].children.append(event.candidate)


def _opine(candidate: Candidate, seq: int, event: Report | ScoreDropped | MemoryStored) -> None:
    match event:
        case CandidateScored():
            candidate.scale, candidate.wanted = event.scale, max(candidate.wanted, event.of)
            candidate.reports.append((seq, event))
            candidate.dropped.pop(event.index, None)
            if event.score is not None:
                candidate.scores[event.index] = event.score
                candidate.mean = _mean(candidate.scores)
        case CandidateJudged():
            candidate.reports.append((seq, event))
        case ScoreDropped():
            candidate.scores.pop(event.index, None)
            candidate.mean = _mean(candidate.scores)
            candidate.dropped[event.index] = event.reason
        case MemoryStored():
            candidate.memory, candidate.memory_seq = event, seq


def _mean(scores: Mapping[int, float]) -> float | None:
    return sum(scores.values()) / len(scores) if scores else None
