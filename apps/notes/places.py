"""What a note may be about: whether a run has it, its name in words, and its page."""

from dataclasses import dataclass
from urllib.parse import quote

from django.core.exceptions import ValidationError
from django.urls import reverse

from apps.notes.models import Note
from apps.reasoning.domain.event_base import Kind
from apps.runs.models import Run

_PROOF = "proof/"


@dataclass(frozen=True)
class Place:
    """A run or a part of it, as in `Note.kind` and `Note.target`."""

    run: Run
    kind: str
    target: str = ""

    @property
    def owner(self) -> str:
        """The lemma or proof of a step; else the target."""
        return self.target.rpartition("#")[0] if self.kind == Note.Kind.STEP else self.target

    @property
    def words(self) -> str:
        """The name for a heading: `Lemma s0.7, step 3`."""
        if self.kind == Note.Kind.RUN:
            return "The run"
        if self.kind == Note.Kind.CALL:
            return f"Call {self.target}"
        owner = self.owner
        name = f"Proof {owner.removeprefix(_PROOF)}" if owner.startswith(_PROOF) else f"Lemma {owner}"
        return f"{name}, step {self.target.rpartition('#')[2]}" if self.kind == Note.Kind.STEP else name

    @property
    def url(self) -> str:
        """The address of the page that shows the notes of this place."""
        run = self.run.public_id
        if self.kind == Note.Kind.RUN:
            return reverse("notes:note_list", args=[run])
        if self.kind == Note.Kind.CALL:
            return reverse("explorations:call", args=[run, self.target])
        if self.owner.startswith(_PROOF):
            return reverse("lemmas:proof_panel", args=[run, self.owner.removeprefix(_PROOF)])
        return reverse("lemmas:lemma_panel", args=[run, self.owner])

    @property
    def query(self) -> str:
        """The place as the query of an address."""
        return f"kind={self.kind}&target={quote(self.target, safe='')}"


def place_of(run: Run, kind: str, target: str) -> Place:
    """A place that the run has. Raises `ValidationError` for one that it lacks."""
    place = Place(run, kind, "" if kind == Note.Kind.RUN else target.replace("\0", "")[:200])
    if kind not in Note.Kind.values or not _exists(place):
        raise ValidationError("This run has no such lemma, step or call. Open it again and write the note there.")
    return place


def _exists(place: Place) -> bool:
    """Whether an event of the run introduced the place."""
    events = place.run.events.order_by()
    if place.kind == Note.Kind.RUN:
        return True
    if place.kind == Note.Kind.CALL:
        return events.filter(key=f"{place.target}/began").exists() or place.run.steps.filter(key=place.target).exists()
    is_proof = place.owner.startswith(_PROOF)
    kind, field = (Kind.PROOF_DRAFTED, "proof") if is_proof else (Kind.LEMMA_PROPOSED, "lemma")
    body = events.filter(kind=kind, **{f"body__{field}": place.owner}).values_list("body", flat=True).first()
    if body is None or place.kind == Note.Kind.LEMMA:
        return body is not None and not is_proof
    number = place.target.rpartition("#")[2]
    return number.isascii() and number.isdigit() and 1 <= int(number[:6]) <= max(1, len(body.get("steps") or ()))
