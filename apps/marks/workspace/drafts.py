"""Drafts of marks: every change is a small command, stored with the resulting sheet so that it can be undone and redone.

A command has an id and is applied once even if it is sent twice. It names the `row_version` it was made for. On a different
version it is refused, with the fields it would have changed. `Mark.position` is the number of the command behind the current
sheet.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.marks.access import TaskGone
from apps.marks.leases import DRAFT_LEFT, lease_renew
from apps.marks.models import AuditEvent, Mark, MarkCommand, MarkingSetup, MarkingTask, MarkState, Slot
from apps.marks.sheets import scheme_of, script_of, sheet_of
from apps.marks.workspace.shared_items import items_add, items_remove, items_wait
from apps.reasoning.marking.sheets.commands import CommandRefused, fields_differing, sheet_apply, sheet_json
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.schemes.models import SchemeVersion, VersionStatus

DEPTH = 200
SECONDS_AT_MOST = 86_400.0
_FOLLOWED = ("scheme_version", "sheet", "row_version", "position")


class DraftChanged(Exception):
    """The command was meant for another version of the sheet.

    `mark` is the current mark, `fields` are those that the command would change.
    """

    def __init__(self, mark: Mark, fields: list[str]) -> None:
        super().__init__("The sheet was changed in another window.")
        self.mark, self.fields = mark, fields


@dataclass(frozen=True)
class Command:
    """One change, as the marker's page sends it."""

    id: uuid.UUID
    verb: str
    args: Mapping[str, Any]
    row_version: int


@transaction.atomic
def draft_of(task: MarkingTask, user: User) -> Mark:
    """The mark of a task: the marker's draft, created if needed, or their sealed mark. Raises `TaskGone`."""
    mark = Mark.objects.select_related("scheme_version").filter(task=task).first()
    if mark is None:
        if task.assignee_id != user.pk or task.done_at is not None:
            raise TaskGone("This script is no longer assigned to you.")
        version = version_active(task.case.problem.setup)
        mark, is_new = Mark.objects.get_or_create(task=task, defaults={"marker": user, "scheme_version": version})
        if is_new:
            _restored(mark)
    if mark.marker_id != user.pk:
        raise TaskGone("This script is no longer assigned to you.")
    mark.task = task
    if mark.state == MarkState.DRAFT:
        scheme_follow(mark)
        _shared(mark)
    return mark


@transaction.atomic
def command_apply(*, task: MarkingTask, user: User, command: Command) -> Mark:
    """Apply a command. Returns the resulting mark, also if the command was applied before.

    Raises `TaskGone`, `DraftChanged`, and `CommandRefused` with a sentence, also for a sealed mark.
    """
    mark = _for_change(task, user)
    if mark.commands.filter(command_id=command.id).exists():
        return mark
    sheet = sheet_apply(sheet_of(mark), command.verb, command.args, scheme_of(mark), script_of(task.case.version))
    if mark.row_version != command.row_version:
        raise DraftChanged(mark, fields_differing(sheet_of(mark), sheet))
    return _written(mark, sheet, command.verb, command.id)


@transaction.atomic
def draft_undo(*, task: MarkingTask, user: User, row_version: int) -> Mark:
    """Return to the sheet before the last command. Raises `TaskGone`, `DraftChanged`, `CommandRefused`."""
    return _moved(_for_change(task, user), -1, row_version, "There is nothing to undo.")


@transaction.atomic
def draft_redo(*, task: MarkingTask, user: User, row_version: int) -> Mark:
    """Return to the sheet after the next command. Raises `TaskGone`, `DraftChanged`, `CommandRefused`."""
    return _moved(_for_change(task, user), 1, row_version, "There is nothing to redo.")


def active_keep(*, mark: Mark, seconds: float) -> None:
    """Store the marker's active time on the script in seconds; the value only grows."""
    seconds = min(max(seconds, 0.0), SECONDS_AT_MOST)
    Mark.objects.filter(pk=mark.pk, state=MarkState.DRAFT, active_seconds__lt=seconds).update(active_seconds=seconds)


def version_active(setup: MarkingSetup) -> SchemeVersion | None:
    """The scheme version that new marks use; None without an active version."""
    return setup.scheme.versions.filter(status=VersionStatus.ACTIVE).first() if setup.scheme else None


def scheme_follow(mark: Mark) -> None:
    """Move a draft to the active version of its scheme. Ticks follow the identity of items; ticks of removed items are dropped.

    A change of meaning increases `row_version`, so that no marker seals points they have not seen, and clears the undo history.
    Without an active version the draft keeps its version.
    """
    setup, before = mark.task.case.problem.setup, mark.scheme_version
    now = version_active(setup)
    if now == before or (now is None and setup.scheme is not None):
        return
    sheet = sheet_of(mark) if before is None else ticks_carried(sheet_of(mark), before, now)
    changes: dict[str, Any] = {"scheme_version": now, "sheet": sheet_json(sheet)}
    is_other = before is None or now is None or now.meaning_hash != before.meaning_hash
    if is_other:
        changes |= {"row_version": mark.row_version + 1, "position": 0}
    seen = Mark.objects.filter(pk=mark.pk, row_version=mark.row_version, state=MarkState.DRAFT, scheme_version=before)
    if not seen.update(**changes):
        # A concurrent command or another window changed the draft; carry that sheet over instead.
        mark.refresh_from_db(fields=[*_FOLLOWED, "state"])
        if mark.state == MarkState.DRAFT:
            scheme_follow(mark)
        return
    if is_other:
        mark.commands.all().delete()
    for name, value in changes.items():
        setattr(mark, name, value)


def ticks_carried(sheet: MarkSheet, old: SchemeVersion, new: SchemeVersion | None) -> MarkSheet:
    """A sheet for another version of the scheme: codes of the same items, without removed items."""
    codes = {item.lineage: item.code for item in new.content.items} if new else {}
    known = {item.code: codes[item.lineage] for item in old.content.items if item.lineage in codes}

    def carried(items: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(known[code] for code in items if code in known)

    ticks = frozenset(known[code] for code in sheet.ticks if code in known)
    places = {known[code]: step for code, step in sheet.places.items() if code in known}
    verdicts = tuple(one.model_copy(update={"items": carried(one.items)}) for one in sheet.verdicts)
    comments = tuple(one.model_copy(update={"items": carried(one.items)}) for one in sheet.comments)
    is_mixed = sheet.is_mixed and new is not None and bool(new.content.mixing)
    return sheet.model_copy(
        update={"ticks": ticks, "places": places, "verdicts": verdicts, "comments": comments, "is_mixed": is_mixed}
    )


def _for_change(task: MarkingTask, user: User) -> Mark:
    """The draft, with its lease renewed and its row locked for this transaction."""
    sealed = Mark.objects.filter(task=task, marker=user).exclude(state=MarkState.DRAFT)
    if sealed.exists():
        raise CommandRefused("This mark is sealed.")
    lease_renew(task, user)
    mark = draft_of(task, user)
    return _locked(mark)


def _written(mark: Mark, sheet: MarkSheet, verb: str, command_id: uuid.UUID) -> Mark:
    """Store a sheet as the next command; drops undone commands."""
    value = sheet_json(sheet)
    number = mark.position + 1
    _store(mark, value, number, mark.row_version)
    mark.commands.filter(number__gte=number).delete()
    mark.commands.filter(number__lte=number - DEPTH).delete()
    MarkCommand.objects.create(mark=mark, command_id=command_id, number=number, verb=verb, sheet=value)
    return mark


def _moved(mark: Mark, by: int, row_version: int, refusal: str) -> Mark:
    position = mark.position + by
    kept = mark.commands.filter(number=position).first()
    if position < 0 or (kept is None and position > 0) or (kept is None and by > 0):
        raise CommandRefused(refusal)
    value = kept.sheet if kept else sheet_json(MarkSheet())
    if mark.row_version != row_version:
        raise DraftChanged(mark, fields_differing(sheet_of(mark), MarkSheet.model_validate(value)))
    _store(mark, value, position, row_version)
    return mark


def _store(mark: Mark, value: dict[str, Any], position: int, row_version: int) -> None:
    changes = {"sheet": value, "position": position, "row_version": row_version + 1, "band": value["band"] or ""}
    if not Mark.objects.filter(pk=mark.pk, row_version=row_version, state=MarkState.DRAFT).update(**changes):
        raise DraftChanged(Mark.objects.select_related("scheme_version").get(pk=mark.pk), [])
    for name, change in changes.items():
        setattr(mark, name, change)


def _restored(mark: Mark) -> None:
    """Restore the draft that this marker had when another marker took the script. Calibration and re-marks start empty."""
    if mark.task.slot in (Slot.CALIBRATION, Slot.REMARK):
        return
    left = AuditEvent.objects.filter(case=mark.task.case, actor=mark.marker, verb=DRAFT_LEFT).order_by("-pk").first()
    if left is None:
        return
    sheet = MarkSheet.model_validate(left.body["sheet"])
    before = SchemeVersion.objects.filter(pk=left.body["scheme_version"]).first()
    if before is not None and before != mark.scheme_version:
        sheet = ticks_carried(sheet, before, mark.scheme_version)
    _written(mark, sheet, "restored", uuid.uuid4())
    draft_strip(mark)


def draft_strip(mark: Mark) -> None:
    """Take the items from a draft that its marker has taken back from a group of scripts. Call it in a transaction."""
    locked = _locked(mark)
    if locked.state == MarkState.DRAFT:
        _ticked(locked, items_remove(locked))
        _follow(mark, locked)


def _shared(mark: Mark) -> None:
    """Tick the items that this marker gave to a group of scripts with this one."""
    if not items_wait(mark):
        return
    locked = _locked(mark)
    if locked.state == MarkState.DRAFT:
        _ticked(locked, items_add(locked))
        _follow(mark, locked)


def _ticked(mark: Mark, ticks: frozenset[str]) -> None:
    sheet = sheet_of(mark)
    if ticks != sheet.ticks:
        _written(mark, sheet.with_ticks(ticks, is_mixed=sheet.is_mixed), "shared", uuid.uuid4())


def _locked(mark: Mark) -> Mark:
    locked = Mark.objects.select_for_update(of=("self",)).select_related("scheme_version").get(pk=mark.pk)
    locked.task = mark.task
    return locked


def _follow(mark: Mark, locked: Mark) -> None:
    for name in (*_FOLLOWED, "band"):
        setattr(mark, name, getattr(locked, name))
