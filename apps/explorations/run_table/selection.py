"""The selected runs of the list: found again with the user's access, exported, and deleted by their owner."""

import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models.fields.reverse_related import ForeignObjectRel

from apps.accounts.models import User
from apps.explorations.exports import export_lines
from apps.lemmas.search.index import words_forget, words_of
from apps.runs.access import run_visible_to, runs_get_for
from apps.runs.models import Run

SELECTED_AT_MOST, EXPORTED_AT_MOST = 200, 50
#: Apps whose rows are parts of a run and are deleted with it.
_PARTS = ("runs", "lemmas", "desk", "notes", "sharing")
_IN_MEMORY = 8 * 1024 * 1024


def runs_selected(user: User, ids: Sequence[str]) -> list[Run]:
    """The runs with these ids that the user may see, in this order. Raises `ValidationError` without one, or for too many."""
    if len(set(ids)) > SELECTED_AT_MOST:
        raise ValidationError(f"Select at most {SELECTED_AT_MOST} runs. Nothing was changed.")
    try:
        visible = run_visible_to(user).filter(public_id__in=set(ids)).select_related("owner", "problem_version__problem")
        found = {str(run.public_id): run for run in visible}
    except (ValidationError, ValueError):  # An id that is none.
        found = {}
    if not found:
        raise ValidationError("Select at least one run of the list first.")
    return runs_get_for(user, [one for one in dict.fromkeys(ids) if one in found])


def runs_zip(runs: Sequence[Run]) -> IO[bytes]:
    """The exports of the runs as JSON lines in a ZIP file, opened for reading. Raises `ValidationError` for too many."""
    if len(runs) > EXPORTED_AT_MOST:
        raise ValidationError(f"Export at most {EXPORTED_AT_MOST} runs at once.")
    file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  (the response closes it)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for run in runs:
            with archive.open(f"run-{run.public_id}.jsonl", "w", force_zip64=True) as member:
                for line in export_lines(run):
                    member.write(line.encode())
    file.seek(0)
    return file


@dataclass(frozen=True)
class Deletion:
    """What deleting a selection does: the runs that would be deleted, and the others, each with the reason why it is kept."""

    runs: list[Run]
    kept: list[tuple[Run, str]]


def deletion_of(user: User, runs: Sequence[Run]) -> Deletion:
    """Sort the selection. Only owners delete, only ended runs, and none that other work refers to."""
    reasons = [(run, _reason_to_keep(user, run)) for run in runs]
    return Deletion([run for run, reason in reasons if not reason], [(run, reason) for run, reason in reasons if reason])


@transaction.atomic
def runs_delete(*, user: User, runs: Sequence[Run]) -> Deletion:
    """Delete those runs of the selection that may be deleted, with their events, calls, lemmas, tags, notes and links.

    Forks keep their own records; texts stay, because runs share them.
    """
    locked = {run.pk: run for run in Run.objects.select_for_update().filter(pk__in=[run.pk for run in runs])}
    plan = deletion_of(user, [locked[run.pk] for run in runs if run.pk in locked])
    words = words_of(plan.runs)
    Run.objects.filter(pk__in=[run.pk for run in plan.runs]).delete()
    words_forget(words)
    return plan


def _reason_to_keep(user: User, run: Run) -> str:
    if run.owner_id != user.pk:
        return "it is not yours"
    if run.is_live:
        return "it is in progress; cancel it first"
    users = [str(one.related_model._meta.verbose_name) for one in references() if _refers(one, run)]
    return f"other work refers to it ({', '.join(sorted(users))})" if users else ""


def references() -> list[ForeignObjectRel]:
    """The relations by which rows that are no parts of a run refer to it."""
    relations = [one for one in Run._meta.get_fields(include_hidden=True) if isinstance(one, ForeignObjectRel)]
    return [one for one in relations if one.related_model._meta.app_label not in _PARTS]


def _refers(relation: ForeignObjectRel, run: Run) -> bool:
    return relation.related_model._base_manager.filter(**{relation.field.name: run.pk}).exists()
