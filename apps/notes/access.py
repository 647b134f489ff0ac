"""Access to notes: that of their run, and for changes as below.

| | author | other readers of the run | who may steer the run |
|---|---|---|---|
| read, answer with another note, resolve | yes | yes | yes |
| edit | yes | no | no |
| delete | yes | no | yes |
"""

from django.http import Http404

from apps.accounts.models import User
from apps.notes.models import Note
from apps.runs.access import run_may_steer
from apps.runs.models import Run


def note_get(run: Run, note_id: int) -> Note:
    """A note of a run that passed `apps.runs.access`. Raises `Http404` for one of another run."""
    note = Note.objects.filter(run=run, pk=note_id).select_related("by").first()
    if note is None:
        raise Http404("This note was deleted.")
    note.run = run
    return note


def note_may_edit(user: User, note: Note) -> bool:
    """Whether the user wrote the note."""
    return user.is_active and note.by_id == user.pk


def note_may_delete(user: User, note: Note) -> bool:
    """Whether the user wrote the note or may steer its run."""
    return note_may_edit(user, note) or run_may_steer(user, note.run)
