"""Writes of notes. Runs passed `apps.runs.access`: who reads a run may write a note on it."""

import re
from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.notes.access import note_may_delete, note_may_edit
from apps.notes.models import LONGEST_NOTE, Mention, Note
from apps.notes.places import Place
from apps.runs.access import run_visible_to
from apps.runs.models import Run

MENTIONS_AT_MOST, NOTES_AT_MOST = 20, 2_000
_MENTION = re.compile(r"(?<![\w.@/+-])@([\w.@+-]*\w)")


@transaction.atomic
def note_write(*, user: User, place: Place, text: str) -> tuple[Note, list[str]]:
    """Add a note. Returns it and the mentioned names that receive nothing. Raises `ValidationError` for an unusable text."""
    text = _usable(text)
    if Note.objects.filter(run=place.run).count() >= NOTES_AT_MOST:
        raise ValidationError(f"This run already has {NOTES_AT_MOST:,} notes. Delete some first.")
    note = Note.objects.create(run=place.run, kind=place.kind, target=place.target, text=text, by=user)
    return note, _mention(note)


@transaction.atomic
def note_edit(*, user: User, note: Note, text: str) -> list[str]:
    """Change one's own note. Returns the mentioned names that receive nothing. Raises `ValidationError`."""
    if not note_may_edit(user, note):
        raise ValidationError("Only its author may change a note.")
    note.text, note.edited_at = _usable(text), timezone.now()
    note.save(update_fields=["text", "edited_at"])
    return _mention(note)


def note_resolve(*, user: User, note: Note, is_resolved: bool) -> None:
    """Mark a note as resolved, or as open again. Everyone who reads the run may."""
    note.resolved_at, note.resolved_by = (timezone.now(), user) if is_resolved else (None, None)
    note.save(update_fields=["resolved_at", "resolved_by"])


def note_delete(*, user: User, note: Note) -> None:
    """Delete a note. Raises `ValidationError` for a user who is neither its author nor may steer the run."""
    if not note_may_delete(user, note):
        raise ValidationError("Only its author, or a person who may steer the run, may delete a note.")
    note.delete()


def mention_see(*, user: User, note_id: int) -> None:
    """Take a mention off the user's home page."""
    Mention.objects.filter(note=note_id, person=user, seen_at=None).update(seen_at=timezone.now())


def _usable(text: str) -> str:
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    if not text:
        raise ValidationError("Write a text first.")
    if len(text) > LONGEST_NOTE:
        raise ValidationError(f"A note has at most {LONGEST_NOTE:,} characters; this one has {len(text):,}. Shorten it.")
    return text


def _mention(note: Note) -> list[str]:
    """Store the people named in a note who may see its run. Returns the other names.

    An unknown name and a person who may not see the run are treated alike, so that a note does not reveal accounts.
    """
    names = list(dict.fromkeys(_MENTION.findall(note.text)))[:MENTIONS_AT_MOST]
    found = _readers(note.run, names)
    others = [one for one in found.values() if one != note.by]
    note.mentions.exclude(person__in=others).delete()
    Mention.objects.bulk_create([Mention(note=note, person=one) for one in others], ignore_conflicts=True)
    return [name for name in names if name not in found]


def _readers(run: Run, names: Iterable[str]) -> dict[str, User]:
    """By name, the people who may see the run."""
    people = User.objects.filter(username__in=list(names), is_active=True)
    return {one.username: one for one in people if run_visible_to(one).filter(pk=run.pk).exists()}
