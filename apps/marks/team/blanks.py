"""Scripts with nothing on them: settled with no points in one decision, which can be taken back until the results are released.

A script is blank if it has no text, and no page or only pages in which the scanner measured no ink. A page that was never
measured, such as a photo, may have something on it, so its script is not listed.
"""

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem
from apps.marks.audit import audit
from apps.marks.coordination.coordination import coordination_settle
from apps.marks.leases import is_free
from apps.marks.models import (
    AuditEvent,
    CaseState,
    Coordination,
    CoordinationOutcome,
    FinalGrade,
    Mark,
    MarkingCase,
    MarkingSetup,
    MarkingTask,
    MarkState,
    Slot,
)
from apps.marks.setups import setup_of, slots_of
from apps.marks.workspace.drafts import version_active
from apps.reasoning.marking.sheets.commands import sheet_json
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.scanning.models import ScannedPage
from apps.schemes.models import SchemeVersion
from apps.schemes.services import VersionNotOpen, version_use
from apps.submissions.models import VersionScan

SETTLED_BLANK, UNDONE = "blank.settled", "blank.undone"
REASON = "No text, and no ink on any page."


class BlanksRefused(Exception):
    """Nothing was settled or taken back; the message gives the reason."""


@dataclass(frozen=True)
class BlankScript:
    """A blank script with its pages, without image data."""

    case: MarkingCase
    pages: list[VersionScan]


@dataclass(frozen=True)
class Decision:
    """A decision on blank scripts of a problem. `left`: how many of its scripts can still be taken back."""

    event: AuditEvent
    papers: list[str]
    left: int


def blanks_of(problem: ContestProblem) -> list[BlankScript]:
    """The blank scripts of a problem that have no mark yet and that no marker holds, by paper number."""
    busy = MarkingTask.objects.filter(case__problem=problem).exclude(is_free(timezone.now()) & Q(slot__in=_OF_BLANKS))
    begun = (
        Mark.objects.filter(task__case__problem=problem)
        .exclude(state=MarkState.VOID)
        .filter(Q(row_version__gt=0) | Q(sealed_at__isnull=False))
    )
    cases = MarkingCase.objects.filter(problem=problem, state=CaseState.OPEN, version__steps=None, version__withdrawn_at=None)
    cases = cases.exclude(pk__in=busy.values("case")).exclude(pk__in=begun.values("task__case"))
    cases = cases.select_related("version__submission__paper").order_by("version__submission__paper__number")
    rows = [case for case in cases if not (case.version.raw.strip() or case.version.source.strip())]
    pages: dict[int, list[VersionScan]] = {}
    for page in (
        VersionScan.objects.filter(version__in=[case.version_id for case in rows]).select_related("scan").defer("scan__jpeg")
    ):
        pages.setdefault(page.version_id, []).append(page)
    without_ink = _without_ink({page.scan_id for some in pages.values() for page in some})
    found = [BlankScript(case, pages.get(case.version_id, [])) for case in rows]
    return [one for one in found if all(page.scan_id in without_ink for page in one.pages)]


@transaction.atomic
def blanks_settle(*, problem: ContestProblem, cases: Collection[str], by: User) -> int:
    """Settle these blank scripts with no points; returns their number. Raises `BlanksRefused` if one is not blank any more.

    `cases`: public ids.
    """
    setup = setup_of(problem)
    if setup is None or not cases:
        raise BlanksRefused("Choose at least one script.")
    locked = MarkingCase.objects.select_for_update(of=("self",)).filter(problem=problem, public_id__in=cases).order_by("pk")
    keys = {case.pk for case in locked}
    # Claims lock tasks, not cases.
    tasks = MarkingTask.objects.select_for_update(of=("self",)).filter(case__in=keys, done_at=None, slot__in=_OF_BLANKS)
    waiting = [task.pk for task in tasks]
    chosen = [one.case for one in blanks_of(problem) if one.case.pk in keys]
    if len(chosen) != len(set(cases)):
        raise BlanksRefused("Nothing was settled: a marker has begun one of these scripts. Look at the new list.")
    version = _version_used(setup)
    sheet = sheet_json(MarkSheet(typed=Decimal(0), reason=REASON))
    Mark.objects.filter(task__in=waiting, state=MarkState.DRAFT, row_version=0).delete()  # Opened, and nothing was done.
    MarkingTask.objects.filter(pk__in=waiting).delete()
    for case in chosen:
        decided = Coordination.objects.create(case=case, scheme_version=version, sheet=sheet, points=Decimal(0), reason=REASON)
        decided.signatories.set([by])
        coordination_settle(decided, CoordinationOutcome.BLANK, by)
    papers = [case.version.submission.paper.number for case in chosen]
    ids = [str(case.public_id) for case in chosen]
    audit(
        SETTLED_BLANK,
        actor=by,
        contest=problem.contest,
        problem=str(problem.public_id),
        scripts=len(chosen),
        list=papers,
        cases=ids,
    )
    return len(chosen)


@transaction.atomic
def blanks_undo(*, problem: ContestProblem, event: AuditEvent, by: User) -> int:
    """Take back a decision: its scripts wait for a mark again, except those that were released. Raises `BlanksRefused`."""
    setup = setup_of(problem)
    rows = (
        _still_blank(event).select_for_update(of=("self",)).filter(problem=problem).select_related("version__submission__paper")
    )
    cases = list(rows.order_by("version__submission__paper__number"))
    if setup is None or not cases:
        raise BlanksRefused("None of these scripts can be taken back: they were released, or settled in another way since.")
    MarkingTask.objects.bulk_create(
        (MarkingTask(case=case, slot=slot) for case in cases for slot in slots_of(setup)), ignore_conflicts=True
    )
    MarkingCase.objects.filter(pk__in=[case.pk for case in cases]).update(
        state=CaseState.OPEN, row_version=F("row_version") + 1
    )
    for case in cases:
        audit("case.moved", actor=by, case=case, before=case.state, after=CaseState.OPEN.value)
    papers = [case.version.submission.paper.number for case in cases]
    audit(UNDONE, actor=by, contest=problem.contest, problem=str(problem.public_id), scripts=len(cases), list=papers)
    return len(cases)


def decisions_of(problem: ContestProblem) -> list[Decision]:
    """The decisions on blank scripts of a problem, newest first."""
    events = AuditEvent.objects.filter(contest=problem.contest_id, verb=SETTLED_BLANK, body__problem=str(problem.public_id))
    rows = events.select_related("actor").order_by("-pk")
    return [Decision(event, list(event.body.get("list", [])), _still_blank(event).count()) for event in rows]


def decision_get(contest: Contest, problem: ContestProblem, key: int) -> AuditEvent | None:
    """A decision of this problem by its key."""
    return AuditEvent.objects.filter(contest=contest, verb=SETTLED_BLANK, body__problem=str(problem.public_id), pk=key).first()


_OF_BLANKS = (Slot.FIRST, Slot.SECOND)


def _version_used(setup: MarkingSetup) -> SchemeVersion | None:
    """The active version of the scheme, fixed by its use; None without a scheme. Raises `BlanksRefused`."""
    version = version_active(setup)
    if version is None and setup.scheme is not None:
        raise BlanksRefused("The marking scheme has no active version. Activate one first.")
    try:
        if version is not None:
            version_use(version=version)
    except VersionNotOpen as error:
        raise BlanksRefused(str(error)) from error
    return version


def _still_blank(event: AuditEvent) -> QuerySet[MarkingCase]:
    """The unreleased scripts of a decision whose grade still comes from one."""
    graded = FinalGrade.objects.filter(superseded_by=None, coordination__outcome=CoordinationOutcome.BLANK)
    named = MarkingCase.objects.filter(public_id__in=event.body.get("cases", []), state=CaseState.SETTLED)
    return named.filter(pk__in=graded.values("case"))


def _without_ink(scans: Collection[int]) -> set[int]:
    """Those of these pages of texts in which the scanner measured no ink."""
    pages = ScannedPage.objects.filter(scan__in=scans).values_list("scan", "ink")
    inked = {scan for scan, ink in pages if ink > 0}
    return {scan for scan, _ in pages if scan is not None} - inked
