"""Events of model graders: pieces prepared from a problem's references, and the gradings of a script.

Part of the one vocabulary of events.py.
"""

from typing import Any, Literal

from apps.reasoning.domain.event_base import Event, Kind

PieceKind = Literal["clusters", "analysis", "rubric"]
#: Second part of the name of a piece that a person approved.
APPROVED = "approved"


class GradingPrepared(Event):
    """A piece that depends only on the problem and its references. `is_cached`: it existed already, without a model call.

    `piece` identifies its inputs, so that the next script can reuse it; `value` is its whole content. `slot` and `basis` are
    those of `graders.slots`: its place, and the digest of everything it depends on.
    """

    kind = Kind.GRADING_PREPARED
    piece: str
    what: PieceKind
    role: str
    call: str = ""
    is_cached: bool
    value: dict[str, Any]
    slot: str = ""
    basis: str = ""

    @property
    def is_approved(self) -> bool:
        """Whether a person approved it, according to its name."""
        return self.piece.split("/")[1:2] == [APPROVED]


class GradingUnprepared(Event):
    """No usable piece was made for a slot; `raw` is the rejected text."""

    kind = Kind.GRADING_UNPREPARED
    slot: str
    reason: str
    raw: str = ""


class SchemeWritten(Event):
    """A marking scheme in its text form, which passed all checks; `warnings` need a person's attention."""

    kind = Kind.GRADING_SCHEME_WRITTEN
    text: str
    warnings: tuple[str, ...] = ()


class QualityFound(Event):
    """Quality flags on a problem with its solution. `yes` counts by flag the samples that raise it; `reasons` has their words.

    A flag counts as raised if more than half of the readable samples raise it.
    """

    kind = Kind.GRADING_QUALITY
    samples: int
    readable: int
    yes: dict[str, int]
    reasons: dict[str, tuple[str, ...]] = {}


class DifficultyFound(Event):
    """Points of many attempts at a problem, in order; None for an unreadable grading.

    `mean` and its 95 % interval are out of `scale`; None if fewer than half of the attempts have points.
    `unwritten` counts attempts without a proof, which have 0 points.
    """

    kind = Kind.GRADING_DIFFICULTY
    attempts: int
    points: tuple[float | None, ...]
    scale: float
    unwritten: int = 0
    mean: float | None = None
    low: float | None = None
    high: float | None = None


class GradingMatched(Event):
    """The cluster of references that a script is compared with. `prefix`, `common`: equal main steps per cluster, from the
    start and in order."""

    kind = Kind.GRADING_MATCHED
    cluster: str
    call: str = ""
    prefix: dict[str, int] = {}
    common: dict[str, int] = {}
    reason: str = ""


class GradingReached(Event):
    """A grading of the script (`apps.reasoning.graders.grading.Grading` as JSON); `final` is the name of the run's result.

    Exactly one of `points` and `unscored` is given.
    """

    kind = Kind.GRADING_REACHED
    name: str
    points: float | None = None
    unscored: str = ""
    grading: dict[str, Any]
