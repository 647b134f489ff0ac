"""Events of model graders: what was prepared from the references of a problem, and what a pass over a script gave.

Part of the one vocabulary of events.py.
"""

from typing import Any, Literal

from apps.reasoning.domain.event_base import Event

PieceKind = Literal["clusters", "analysis", "rubric"]
#: Second part of the name of a piece that a person approved.
APPROVED = "approved"


class GradingPrepared(Event):
    """A piece that depends on the problem and its references alone. `is_cached`: it was made before and no model was asked.

    `piece` names what it was made from, so that it can be used for the next script; `value` is its whole content. `slot` and
    `basis` are those of `graders.slots`: where it belongs, and the digest of what it depends on.
    """

    kind = "grading.prepared"
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
        """Whether a person approved it: its name then says so."""
        return self.piece.split("/")[1:2] == [APPROVED]


class GradingUnprepared(Event):
    """Nothing that can be used came for a slot: why, and what was written instead."""

    kind = "grading.unprepared"
    slot: str
    reason: str
    raw: str = ""


class SchemeWritten(Event):
    """A marking scheme in its text form, which passed all checks; `warnings` are what a person should look at."""

    kind = "grading.scheme_written"
    text: str
    warnings: tuple[str, ...] = ()


class QualityFound(Event):
    """What samples say about a problem with its solution. `yes` counts by flag those that raise it.

    `reasons` are by flag the words of those that raise it. A flag stands where more than half of what could be read raise it.
    """

    kind = "grading.quality"
    samples: int
    readable: int
    yes: dict[str, int]
    reasons: dict[str, tuple[str, ...]] = {}


class DifficultyFound(Event):
    """Points of many attempts at a problem, in their order; None for one whose grading could not be read.

    `mean` with its 95 % interval is on the scale of `scale`; None where fewer than half of the attempts have points.
    `unwritten` counts those that came to no text of a proof, which have 0 points.
    """

    kind = "grading.difficulty"
    attempts: int
    points: tuple[float | None, ...]
    scale: float
    unwritten: int = 0
    mean: float | None = None
    low: float | None = None
    high: float | None = None


class GradingMatched(Event):
    """Which cluster of references a script is compared with. `prefix`, `common`: main steps alike, in order, per cluster."""

    kind = "grading.matched"
    cluster: str
    call: str = ""
    prefix: dict[str, int] = {}
    common: dict[str, int] = {}
    reason: str = ""


class GradingReached(Event):
    """A grading of the script (`apps.reasoning.graders.grading.Grading` as JSON); the one named `final` is the run's.

    Exactly one of `points` and `unscored` is given.
    """

    kind = "grading.reached"
    name: str
    points: float | None = None
    unscored: str = ""
    grading: dict[str, Any]


CLASSES: tuple[type[Event], ...] = (
    GradingPrepared,
    GradingUnprepared,
    GradingMatched,
    GradingReached,
    SchemeWritten,
    QualityFound,
    DifficultyFound,
)
