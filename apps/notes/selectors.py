"""Reads of notes. All but `mentions_of` take a run that passed `apps.runs.access`."""

from dataclasses import dataclass

from django.db.models import Prefetch, prefetch_related_objects

from apps.accounts.models import User
from apps.desk.models import Tag
from apps.notes.access import note_may_delete, note_may_edit
from apps.notes.models import Mention, Note
from apps.notes.places import Place
from apps.runs.access import run_visible_to
from apps.runs.models import Run

MENTIONS_SHOWN = 10


@dataclass(frozen=True)
class NoteRow:
    """A note with its place and what the reader may do with it."""

    note: Note
    place: Place
    may_edit: bool
    may_delete: bool


def notes_of(run: Run, user: User) -> list[NoteRow]:
    """All notes of a run, oldest first. They are read once for each `run` object."""
    prefetch_related_objects([run], Prefetch("notes", Note.objects.select_related("by", "resolved_by")))
    return [
        NoteRow(one, Place(run, one.kind, one.target), note_may_edit(user, one), note_may_delete(user, one))
        for one in run.notes.all()
    ]


def notes_at(place: Place, user: User) -> list[NoteRow]:
    """The notes of one place, oldest first."""
    return [row for row in notes_of(place.run, user) if (row.place.kind, row.place.target) == (place.kind, place.target)]


def tags_at(place: Place) -> list[Tag]:
    """The tags of one place, by name. Those of a run are read once for each `run` object."""
    prefetch_related_objects([place.run], Prefetch("tags", Tag.objects.select_related("by")))
    return [one for one in place.run.tags.all() if (one.kind, one.target) == (place.kind, place.target)]


def notes_open(run: Run) -> int:
    """The number of unresolved notes of a run."""
    return Note.objects.filter(run=run, resolved_at=None).count()


def mentions_of(user: User) -> list[NoteRow]:
    """The newest unseen mentions of a user in open notes of runs that the user may see now."""
    unseen = Mention.objects.filter(person=user, seen_at=None, note__resolved_at=None, note__run__in=run_visible_to(user))
    rows = unseen.select_related("note__run", "note__by").order_by("-note__at", "-pk")[:MENTIONS_SHOWN]
    notes = [row.note for row in rows]
    return [NoteRow(one, Place(one.run, one.kind, one.target), may_edit=False, may_delete=False) for one in notes]
