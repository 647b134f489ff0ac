"""Events of scaffolds that compare whole solutions: candidates, their scores, judgements, comparisons and lineage.

Part of the one vocabulary of events.py. A candidate is known in its run by an id such as `c2.5` (round 2, fifth).
"""

from typing import Literal

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.values import Value

CandidateKind = Literal["solution", "improvement", "refinement", "correction", "aggregate"]


def candidate_order(candidate: str) -> tuple[int, ...]:
    """Round and number of a candidate: an order independent of the order in which calls finish."""
    return tuple(int(part) for part in candidate.removeprefix("c").split("."))


class Issue(Value):
    """An objection of a verifier: its severity, the quoted words of the solution, and the reason."""

    severity: Literal["critical", "gap", "note"]
    quote: str = ""
    comment: str


class CandidateDrafted(Event):
    """A whole solution. `parents` are the candidates it was made from: none for a fresh one, one for a correction.

    `own_score` is its writer's own score from 0 to 1, if the scaffold asks for one.
    """

    kind = Kind.CANDIDATE_DRAFTED
    candidate: str
    made_as: CandidateKind
    text: str
    steps: tuple[str, ...]
    call: str
    round: int
    parents: tuple[str, ...] = ()
    own_score: float | None = None
    read_as: str = "tags"


class CandidateScored(Event):
    """Report `index` of `of` on a candidate. Exactly one of `score` (of `scale`) and `unscored` is given."""

    kind = Kind.CANDIDATE_SCORED
    candidate: str
    index: int
    of: int
    call: str
    scale: float
    score: float | None = None
    unscored: str = ""
    report: str = ""


class ScoreDropped(Event):
    """A report that a meta-verifier found unfounded; its score no longer counts."""

    kind = Kind.CANDIDATE_SCORE_DROPPED
    candidate: str
    index: int
    call: str
    reason: str


class CandidateJudged(Event):
    """A verifier's decision on a candidate; `unscored` is the reason if there is none. `overruled`: it wrote "pass" next to a
    critical error or a gap, which counts as a fail. The streaks include this judgement; both are 0 if judgements are unordered.
    """

    kind = Kind.CANDIDATE_JUDGED
    candidate: str
    index: int
    call: str
    passed: bool | None
    unscored: str = ""
    issues: tuple[Issue, ...] = ()
    summary: str = ""
    passes: int
    failures: int
    overruled: bool = False


class PoolKept(Event):
    """The candidates kept after a round, best first, and the mean score of each that has one."""

    kind = Kind.POOL_KEPT
    round: int
    kept: tuple[str, ...]
    means: dict[str, float]
    reason: str


class GroupsFormed(Event):
    """Candidates grouped by conclusion; `chosen` is the position of the group held most likely right.

    After a count of final answers, `answers` holds the answer of each group, and `call` is empty.
    """

    kind = Kind.POOL_GROUPED
    call: str
    groups: tuple[tuple[str, ...], ...]
    chosen: int
    reason: str = ""
    answers: tuple[str, ...] = ()


class PairJudged(Event):
    """One comparison: `first` was shown before `second`. `better` is one of them, or empty with the reason in `unscored`."""

    kind = Kind.PAIR_JUDGED
    round: int
    first: str
    second: str
    call: str
    better: str = ""
    unscored: str = ""
    reason: str = ""


class PairDecided(Event):
    """The result of a pair after both orders. `by`: both orders agreed, else the score decided, else the seed."""

    kind = Kind.PAIR_DECIDED
    round: int
    pair: tuple[str, str]
    winner: str
    by: Literal["both orders", "score", "seed"]


class StateWritten(Event):
    """The compact state of a reasoning cache after a turn; the next turn sees only the problem and this state."""

    kind = Kind.STATE_WRITTEN
    turn: int
    text: str
    call: str
