"""The place that a person chose for a fork: an event, a call or a lemma; and the phase of the run in which it lies."""

from dataclasses import dataclass

from apps.explorations.forking.walk import Walk
from apps.runs.models import Run, RunEvent

_BEFORE_CALLS = (
    "This event was recorded before the first call, so there is nothing to take over. Choose a later event, or start a new run "
    "of the problem."
)
_NOT_YET = "The run has not reached the votes on this lemma. Fork when its round has ended."


@dataclass(frozen=True)
class Place:
    """One of `seq`, `call` and `lemma` is given by the address; `seq` is then that of the event or its nearest."""

    seq: int = 0
    call: str = ""
    lemma: str = ""

    @property
    def words(self) -> str:
        return f"lemma {self.lemma}" if self.lemma else f"call {self.call}" if self.call else f"event {self.seq}"

    @property
    def is_given(self) -> bool:
        return bool(self.seq or self.call or self.lemma)


def missing(run: Run, place: Place) -> str:
    """Why the run has no such event or call, or ""."""
    if place.seq > run.last_seq:
        return f"This run has no event {place.seq}; its last is {run.last_seq}."
    if place.call and not run.events.filter(key=f"{place.call}/began").exists():
        return f"This run has no call {place.call}."
    return ""


def seq_of(run: Run, place: Place) -> int:
    """The number of the event that a fork of this place names."""
    if place.seq:
        return place.seq
    key = f"lemma/{place.lemma}" if place.lemma else f"{place.call}/began"
    return run.events.filter(key=key).values_list("seq", flat=True).first() or run.last_seq


def phase_of(run: Run, place: Place, found: Walk) -> tuple[int, str]:
    """The index of the phase before which a fork of this place begins, and "" or the reason why there is none.

    An event or a call: its own phase, whose calls are made again. A lemma: the phase after its proposal, so that it exists.
    """
    if place.lemma:
        at = found.of_lemma(place.lemma)
        return (0, _NOT_YET) if at is None or at + 1 >= len(found.phases) else (at + 1, "")
    at = found.of_call(place.call) if place.call else _of_event(run, place.seq, found)
    return (0, _BEFORE_CALLS) if at is None else (at, "")


def _of_event(run: Run, seq: int, found: Walk) -> int | None:
    """The phase of the event, or of the nearest earlier event that belongs to a phase."""
    calls = {key: at for at, phase in enumerate(found.phases) for key in phase.calls}
    points = {phase.point: at for at, phase in enumerate(found.phases)}
    keys = {key: at for at, phase in enumerate(found.phases) for key in phase.keys}
    earlier = RunEvent.objects.filter(run=run, seq__lte=seq).order_by("-seq").values_list("key", "body")
    for key, body in earlier.iterator(chunk_size=200):
        for at in (calls.get(body.get("call", "")), points.get(body.get("point", "")), keys.get(key)):
            if at is not None:
                return at
    return None
