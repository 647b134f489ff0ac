"""Groups of scripts that are alike, for a marker: give items to many scripts at once, each of them seen, and take them back.

Only scripts that this marker could still mark are compared, and only by their texts. A draft that exists gets the items at
once, any other script when the marker opens it (`shared_items`). Nothing is claimed or sealed, and no other marker is affected.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.access import TaskGone
from apps.marks.models import Mark, MarkingCase, MarkState, SharedItems, SharedItemsScript, Slot
from apps.marks.sealing.calibration import gate_refusal
from apps.marks.selectors import tasks_left
from apps.marks.sheets import sheet_of
from apps.marks.workspace.drafts import Command, command_apply, version_active
from apps.marks.workspace.shared_items import codes_of
from apps.reasoning.answers.groups import Group, Kind, groups_of
from apps.schemes.models import SchemeVersion

#: Most scripts that are compared: the first by paper number.
MOST = 1_000
NONE_ACTIVE = "The marking scheme has no active version, so there are no items to give."


class GroupRefused(Exception):
    """Nothing was changed; the message gives the reason."""


@dataclass(frozen=True)
class Found:
    """Groups of the scripts left for a marker. `without_text`: scripts that cannot be compared; `over`: those beyond `MOST`."""

    groups: list[Group[uuid.UUID]]
    cases: dict[uuid.UUID, MarkingCase]
    without_text: int
    over: int

    def group(self, kind: str, case: uuid.UUID) -> Group[uuid.UUID] | None:
        """The group of a kind with this script."""
        return next((one for one in self.groups if one.kind == kind and case in one.keys), None)


@dataclass(frozen=True)
class Given:
    """Items that the marker gave. `codes`: as the scheme names them now."""

    shared: SharedItems
    codes: list[str]
    papers: list[str]


def groups_for(problem: ContestProblem, user: User) -> Found:
    """The groups of the scripts that this marker could still mark, calibration scripts apart."""
    rows = _cases_left(problem, user).select_related("version__submission__paper")
    cases = list(rows.defer("version__raw").order_by("version__submission__paper__number", "pk")[: MOST + 1])
    over = max(0, rows.count() - MOST) if len(cases) > MOST else 0
    compared = {case.public_id: case for case in cases[:MOST]}
    texts = {key: case.version.source for key, case in compared.items() if case.version.source.strip()}
    return Found(groups_of(texts), compared, len(compared) - len(texts), over)


def given_of(problem: ContestProblem, user: User) -> list[Given]:
    """What this marker gave to groups and did not take back, newest first."""
    version = version_active(problem.setup)
    code_of = {item.lineage: item.code for item in version.content.items} if version else {}
    rows = SharedItems.objects.filter(problem=problem, marker=user, undone_at=None)
    return [
        Given(one, [code_of[item] for item in one.items if item in code_of], _papers(one.scripts.all()))
        for one in rows.prefetch_related("scripts__case__version__submission__paper")
    ]


def codes_by_script(given: Sequence[Given], group: Group[uuid.UUID]) -> dict[uuid.UUID, list[str]]:
    """The codes that each script of a group was given."""
    found: dict[uuid.UUID, list[str]] = {key: [] for key in group.keys}
    for one in given:
        for script in one.shared.scripts.all():
            if script.case.public_id in found:
                found[script.case.public_id] += one.codes
    return found


@transaction.atomic
def items_give(*, problem: ContestProblem, user: User, cases: Collection[uuid.UUID], codes: Collection[str]) -> SharedItems:
    """Give items to the scripts that the marker has seen. Raises `GroupRefused`.

    Scripts that the marker cannot mark any more are left out.
    """
    if refusal := gate_refusal(problem, user):
        raise GroupRefused(refusal)
    version = version_active(problem.setup)
    if version is None:
        raise GroupRefused(NONE_ACTIVE)
    items = _lineages(version, codes)
    if not cases:
        raise GroupRefused("Tick the scripts that you have read and to which the items belong.")
    rows = list(_cases_left(problem, user).filter(public_id__in=cases))
    if not rows:
        raise GroupRefused("You cannot mark any of these scripts now: they were sealed meanwhile.")
    shared = SharedItems.objects.create(problem=problem, marker=user, items=items)
    for case in rows:
        script = SharedItemsScript.objects.create(shared=shared, case=case)
        if (mark := _draft(case, user)) is not None:
            script.added = _ticked(mark, user, items)
            script.save(update_fields=["added"])
    return shared


@transaction.atomic
def items_take_back(*, shared: SharedItems, user: User) -> list[str]:
    """Take items back from all scripts of a decision; what was ticked before it stays. Raises `GroupRefused`.

    Returns the papers whose marks are sealed. These keep the items.
    """
    if not SharedItems.objects.filter(pk=shared.pk, marker=user, undone_at=None).update(undone_at=timezone.now()):
        raise GroupRefused("These items were taken back already.")
    kept = []
    for script in shared.scripts.filter(added__isnull=False).select_related("case__version__submission__paper"):
        mark = _draft(script.case, user)
        if mark is None and Mark.objects.filter(task__case=script.case, marker=user).exclude(state=MarkState.VOID).exists():
            kept.append(script.case.version.submission.paper.number)
        elif mark is not None:
            _unticked(mark, user, script.added or [])
    return sorted(kept)


def _cases_left(problem: ContestProblem, user: User) -> QuerySet[MarkingCase]:
    tasks = tasks_left(problem, user).filter(slot__in=(Slot.FIRST, Slot.SECOND, Slot.THIRD, Slot.AGAIN))
    return MarkingCase.objects.filter(pk__in=tasks.values("case"), version__withdrawn_at=None)


def _lineages(version: SchemeVersion, codes: Collection[str]) -> list[str]:
    known = {item.code: item.lineage for item in version.content.items}
    if unknown := [code for code in codes if code not in known]:
        raise GroupRefused(f"The scheme has no item {unknown[0][:30]} any more. Look at the scheme, and choose again.")
    if not codes:
        raise GroupRefused("Choose the items that these scripts have in common.")
    return [known[code] for code in codes]


def _draft(case: MarkingCase, user: User) -> Mark | None:
    """The draft that this marker has in hand."""
    rows = Mark.objects.filter(task__case=case, marker=user, state=MarkState.DRAFT, task__assignee=user)
    return rows.select_related("task__case__problem__setup__scheme", "task__case__version", "scheme_version").first()


def _ticked(mark: Mark, user: User, items: Collection[str]) -> list[str]:
    """Tick items in a draft; returns those that it did not have."""
    found = codes_of(mark, items)
    added = [code for code in found if code not in sheet_of(mark).ticks]
    return [found[code] for code in added if _commanded(mark, user, "tick", code)]


def _unticked(mark: Mark, user: User, items: Collection[str]) -> None:
    for code in codes_of(mark, items):
        if code in sheet_of(mark).ticks:
            _commanded(mark, user, "untick", code)


def _commanded(mark: Mark, user: User, verb: str, code: str) -> bool:
    """Whether the command was applied: not where another marker took the script over."""
    command = Command(uuid.uuid4(), verb, {"code": code}, Mark.objects.values_list("row_version", flat=True).get(pk=mark.pk))
    try:
        command_apply(task=mark.task, user=user, command=command)
    except TaskGone:
        return False
    return True


def _papers(scripts: "QuerySet[SharedItemsScript]") -> list[str]:
    return sorted(one.case.version.submission.paper.number for one in scripts)


__all__ = ["Found", "Given", "Group", "GroupRefused", "Kind", "groups_for", "items_give", "items_take_back"]
