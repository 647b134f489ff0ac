"""Groups of scripts that are alike, for a marker: give items to many scripts at once, each of them seen, and take them back.

Scripts that wait for this marker are compared, and only by their texts. Those that wait for other markers by assignment are
left out; conflicts are not, because that would reveal authors. Drafts in hand get the items at once, any other script when the
marker opens it (`shared_items`). Nothing is claimed or sealed, and no other marker is affected.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Prefetch, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import CLAIMED, Assignment, Mark, MarkingCase, MarkingTask, MarkState, SharedItems, SharedItemsScript
from apps.marks.sealing.calibration import gate_refusal
from apps.marks.selectors import tasks_left
from apps.marks.sheets import sheet_of
from apps.marks.workspace.drafts import draft_of, draft_strip, version_active
from apps.marks.workspace.shared_items import codes_of
from apps.reasoning.answers.groups import Group, groups_of

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
    """The groups of the scripts that wait for this marker, calibration scripts apart."""
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
    scripts = SharedItemsScript.objects.select_related("case__version__submission__paper")
    scripts = scripts.defer("case__version__raw", "case__version__source")
    return [
        Given(one, [code_of[item] for item in one.items if item in code_of], _papers(one.scripts.all()))
        for one in rows.prefetch_related(Prefetch("scripts", scripts))
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
def items_give(*, problem: ContestProblem, user: User, cases: Collection[uuid.UUID], items: Collection[str]) -> SharedItems:
    """Give items, by their identities, to the scripts that the marker has read. Raises `GroupRefused`.

    Scripts that wait for this marker no more, and those that were given the same items already, are left out.
    """
    if refusal := gate_refusal(problem, user):
        raise GroupRefused(refusal)
    version = version_active(problem.setup)
    if version is None:
        raise GroupRefused(NONE_ACTIVE)
    if not items:
        raise GroupRefused("Choose the items that these scripts have in common.")
    if not set(items) <= {item.lineage for item in version.content.items}:
        raise GroupRefused("The marking scheme was changed meanwhile. Look at its items, and choose again.")
    if not cases:
        raise GroupRefused("Tick the scripts that you have read and to which the items belong.")
    given = SharedItems.objects.filter(problem=problem, marker=user, undone_at=None, items=list(items))
    had = SharedItemsScript.objects.filter(shared__in=given).values("case")
    rows = list(_cases_left(problem, user).filter(public_id__in=cases).exclude(pk__in=had))
    if not rows:
        raise GroupRefused("None of these scripts waits for your mark without these items.")
    shared = SharedItems.objects.create(problem=problem, marker=user, items=list(items))
    SharedItemsScript.objects.bulk_create(SharedItemsScript(shared=shared, case=case) for case in rows)
    for mark in _marks(user, rows).filter(state=MarkState.DRAFT, task__assignee=user):
        draft_of(mark.task, user)
    return shared


@transaction.atomic
def items_take_back(*, shared: SharedItems, user: User) -> list[str]:
    """Take items back from all scripts of a decision; what was ticked before it stays. Raises `GroupRefused`.

    Returns the papers whose sealed marks have such items. These keep them.
    """
    if not SharedItems.objects.filter(pk=shared.pk, marker=user, undone_at=None).update(undone_at=timezone.now()):
        raise GroupRefused("These items were taken back already.")
    added = {row.case_id: row.added for row in shared.scripts.exclude(added=[]).filter(added__isnull=False)}
    kept = []
    for mark in _marks(user, added).order_by("task__case"):
        if mark.state == MarkState.DRAFT:
            draft_strip(mark)
        elif sheet_of(mark).ticks & codes_of(mark, added[mark.task.case_id] or []).keys():
            kept.append(mark.task.case.version.submission.paper.number)
    return sorted(kept)


def _cases_left(problem: ContestProblem, user: User) -> QuerySet[MarkingCase]:
    tasks = tasks_left(problem, user).filter(slot__in=CLAIMED)
    own = Assignment.objects.filter(case__problem=problem, marker=user).values("case")
    given = Assignment.objects.filter(case__problem=problem, is_shared=False).exclude(marker=user).exclude(case__in=own)
    of_others = given.values("case").annotate(markers=Count("pk")).filter(markers__gte=problem.setup.markers).values("case")
    held = MarkingTask.objects.filter(case__problem=problem, assignee=user, done_at=None).values("case")
    cases = MarkingCase.objects.filter(pk__in=tasks.values("case"), version__withdrawn_at=None)
    return cases.exclude(~Q(pk__in=held), pk__in=of_others)


def _marks(user: User, cases: Collection[MarkingCase] | Mapping[int, Any]) -> QuerySet[Mark]:
    """The marks of a marker on these scripts, apart from calibration, re-marks and appeals."""
    rows = Mark.objects.filter(task__case__in=list(cases), task__slot__in=CLAIMED, marker=user).exclude(state=MarkState.VOID)
    return rows.select_related("scheme_version", "task__case__problem__setup__scheme", "task__case__version__submission__paper")


def _papers(scripts: "QuerySet[SharedItemsScript]") -> list[str]:
    return sorted(one.case.version.submission.paper.number for one in scripts)
