"""Events of model graders: what was prepared from the references of a problem, and what a pass over a script gave.

Part of the one vocabulary of events.py.
"""

from typing import Any, Literal

from apps.reasoning.domain.event_base import Event

PieceKind = Literal["clusters", "analysis", "rubric"]


class GradingPrepared(Event):
    """A piece that depends on the problem and its references alone. `is_cached`: it was made before and no model was asked.

    `piece` names what it was made from, so that it can be used for the next script; `value` is its whole content.
    """

    kind = "grading.prepared"
    piece: str
    what: PieceKind
    role: str
    call: str = ""
    is_cached: bool
    value: dict[str, Any]


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


CLASSES: tuple[type[Event], ...] = (GradingPrepared, GradingMatched, GradingReached)
