"""Notes and tags on runs and their parts, with the rules of the pages."""

import uuid
from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja import Query, Schema
from pydantic import Field, model_validator

from apps.accounts.access import user_of
from apps.config.api.once import KEY, once
from apps.config.api.operations import api
from apps.config.api.sent import Sent
from apps.config.api.writing import WRITING
from apps.desk.models import Tag
from apps.desk.services import LONGEST_TAG, TAGS_AT_MOST, part_tag, part_untag
from apps.notes import services
from apps.notes.access import note_get, note_may_delete, note_may_edit
from apps.notes.models import LONGEST_NOTE, Note
from apps.notes.places import place_of
from apps.notes.selectors import notes_of
from apps.runs.access import run_get_for

KIND = "run, lemma, step or call"
TARGET = "id of a lemma (s0.7), a step (s0.7#3, proof/2#1) or key of a call; empty for the run"


class NoteQuery(Schema):
    """Which notes of a run."""

    kind: Note.Kind | None = Field(None, description=f"only notes on this kind of place: {KIND}")
    target: str = Field("", max_length=200, description=TARGET)
    is_open: bool = Field(False, description="only notes that are not resolved")


class PlaceIn(Sent):
    """A run or a part of it."""

    kind: Note.Kind = Field(Note.Kind.RUN, description=KIND)
    target: str = Field("", max_length=200, description=TARGET)


class NoteIn(PlaceIn):
    """A note to write."""

    text: str = Field(max_length=LONGEST_NOTE, description="Markdown with formulas; @name mentions a person")


class NoteChangeIn(Sent):
    """A change of a note: what is null stays."""

    text: str | None = Field(None, max_length=LONGEST_NOTE, description="only of your own note")
    is_resolved: bool | None = None


class NoteOut(Schema):
    """A note on a run or a part of it."""

    id: int
    kind: str
    target: str
    text: str
    by: str | None = Field(description="name of the author; null for a deleted account")
    at: datetime
    edited_at: datetime | None
    is_resolved: bool
    resolved_by: str | None
    may_edit: bool = Field(description="you wrote it")
    may_delete: bool = Field(description="you wrote it, or you may steer the run")


class NoteWritten(NoteOut):
    """A note that was written or changed."""

    unreached: list[str] = Field(description="mentioned names that received nothing: no person of this name may see the run")


class NoteList(Schema):
    """Notes of a run, oldest first."""

    items: list[NoteOut]


class TagsIn(PlaceIn):
    """Tags to add to and to remove from a run or a part of it."""

    add: list[str] = Field([], max_length=TAGS_AT_MOST, description=f"each at most {LONGEST_TAG} characters, without a comma")
    remove: list[str] = Field([], max_length=TAGS_AT_MOST)

    @model_validator(mode="after")
    def _changes_something(self) -> "TagsIn":
        if not (self.add or self.remove):
            raise ValueError("send names of tags in add or remove")
        return self


class TagOut(Schema):
    """A tag on a run or a part of it."""

    name: str
    kind: str
    target: str
    by: str | None
    at: datetime


class TagList(Schema):
    """Tags by name."""

    items: list[TagOut]


@api.get("/runs/{uuid:run_id}/notes", response=NoteList, url_name="note_list", summary="Notes of a run")
def note_list(request: HttpRequest, run_id: uuid.UUID, asked: Query[NoteQuery]) -> dict[str, Any]:
    """The notes on a run and its parts, oldest first; all readers of the run read them."""
    user = user_of(request)
    rows = [row.note for row in notes_of(run_get_for(user, run_id), user)]
    return {
        "items": [
            _note(request, one) for one in rows
            if asked.kind in (None, one.kind) and asked.target in ("", one.target) and not (asked.is_open and one.is_resolved)
        ]
    }  # fmt: skip


@api.post("/runs/{uuid:run_id}/notes", response={201: NoteWritten}, auth=WRITING, url_name="note_write", summary="Write a note")
def note_write(request: HttpRequest, run_id: uuid.UUID, body: NoteIn, key: str | None = KEY) -> Any:
    """Write a note on a run, a lemma, a step of a proof or a call. It never enters prompts."""
    user = user_of(request)
    place = place_of(run_get_for(user, run_id), body.kind, body.target)

    def work() -> NoteWritten:
        note, unreached = services.note_write(user=user, place=place, text=body.text)
        return NoteWritten(**_note(request, note), unreached=unreached)

    return once(request, key, work)


@api.patch(
    "/runs/{uuid:run_id}/notes/{int:note_id}", response=NoteWritten, auth=WRITING, url_name="note_change",
    summary="Change a note",
)  # fmt: skip
def note_change(request: HttpRequest, run_id: uuid.UUID, note_id: int, body: NoteChangeIn, key: str | None = KEY) -> Any:
    """Correct your own note, or mark any note of the run as resolved or as open again."""
    user = user_of(request)
    run = run_get_for(user, run_id)

    def work() -> NoteWritten:
        note, unreached = note_get(run, note_id), []
        if body.text is not None:
            if not note_may_edit(user, note):
                raise PermissionDenied("Only its author may change a note.")
            unreached = services.note_edit(user=user, note=note, text=body.text)
        if body.is_resolved is not None:
            services.note_resolve(user=user, note=note, is_resolved=body.is_resolved)
        return NoteWritten(**_note(request, note), unreached=unreached)

    return once(request, key, work)


@api.delete(
    "/runs/{uuid:run_id}/notes/{int:note_id}", response=NoteOut, auth=WRITING, url_name="note_delete", summary="Delete a note"
)
def note_delete(request: HttpRequest, run_id: uuid.UUID, note_id: int, key: str | None = KEY) -> Any:
    """Delete your own note, or any note of a run that you may steer. The answer is the deleted note."""
    user = user_of(request)
    run = run_get_for(user, run_id)

    def work() -> NoteOut:
        note = note_get(run, note_id)
        if not note_may_delete(user, note):
            raise PermissionDenied("Only its author, or a person who may steer the run, may delete a note.")
        deleted = NoteOut(**_note(request, note))
        services.note_delete(user=user, note=note)
        return deleted

    return once(request, key, work)


@api.get("/runs/{uuid:run_id}/tags", response=TagList, url_name="tag_list", summary="Tags of a run")
def tag_list(request: HttpRequest, run_id: uuid.UUID) -> TagList:
    """The tags on a run and its parts."""
    return _tags(Tag.objects.filter(run=run_get_for(user_of(request), run_id)))


@api.patch("/runs/{uuid:run_id}/tags", response=TagList, auth=WRITING, url_name="tags_change", summary="Set or remove tags")
def tags_change(request: HttpRequest, run_id: uuid.UUID, body: TagsIn, key: str | None = KEY) -> Any:
    """Add tags to a run or a part of it, and remove your own; who may steer the run removes any. All or nothing."""
    user = user_of(request)
    run = run_get_for(user, run_id)
    place = place_of(run, body.kind, body.target)

    def work() -> TagList:
        for names, change in ((body.remove, part_untag), (body.add, part_tag)):
            for name in names:
                change(user=user, run=run, kind=place.kind, target=place.target, name=name)
        return _tags(Tag.objects.filter(run=run, kind=place.kind, target=place.target))

    return once(request, key, work)


def _tags(tags: Any) -> TagList:
    same = ("name", "kind", "target", "at")
    return TagList(
        items=[
            TagOut(**{name: getattr(tag, name) for name in same}, by=tag.by.username if tag.by else None)
            for tag in tags.select_related("by")
        ]
    )


def _note(request: HttpRequest, note: Note) -> dict[str, Any]:
    user = user_of(request)
    same = ("id", "kind", "target", "text", "at", "edited_at", "is_resolved")
    return {
        **{name: getattr(note, name) for name in same},
        "by": note.by.username if note.by else None,
        "resolved_by": note.resolved_by.username if note.resolved_by else None,
        "may_edit": note_may_edit(user, note),
        "may_delete": note_may_delete(user, note),
    }
