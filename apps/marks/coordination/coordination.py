"""Two or three markers settle a disputed script on one page. Claims stay sealed until all markers have claimed.

| step | who | what |
|---|---|---|
| claim | each marker who still coaches | items or points they now hold; claims and notes stay hidden until all have claimed |
| discuss | markers, captain | remarks |
| propose, sign | markers | a claim with a reason; it counts when all have signed the same proposal |
| rule | captain, unless a party; then an organiser as jury | a claim with a reason |

The marks themselves never change. Nothing is averaged or filled in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.accounts.models import User
from apps.marks.access import captain_is, marker_row
from apps.marks.audit import audit
from apps.marks.coordination.comparing import states_settled
from apps.marks.grades import grade_of
from apps.marks.models import (
    Coordination,
    CoordinationOutcome,
    CoordinationRemark,
    FinalGrade,
    Mark,
    MarkingCase,
    Reveal,
    RevealKind,
)
from apps.marks.sheets import sheet_of, step_of
from apps.reasoning.marking.schemes.scheme import Scheme, points_text
from apps.reasoning.marking.sheets.commands import sheet_json
from apps.reasoning.marking.sheets.pages import place_title
from apps.reasoning.marking.sheets.positions import Position, position_line, position_of, position_read, sheet_at
from apps.reasoning.marking.sheets.sealing import missing_for_seal, sheet_points
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, WORDS_LENGTH, MarkSheet, Role


class CoordinationRefused(Exception):
    """The step is not possible now, or its input is incomplete; the message gives the reason."""


class CoordinationChanged(Exception):
    """Another person changed or settled the coordination meanwhile; the request had no effect."""


@dataclass(frozen=True)
class Proposal:
    """A proposed grade: a claim line, its reason, and the ids of verdicts and comments to include (None: all)."""

    line: str
    reason: str
    keep: frozenset[str] | None = None


def marks_of(coordination: Coordination) -> list[Mark]:
    """The marks under coordination, in the order of sealing."""
    marks = coordination.marks.select_related("marker", "scheme_version", "task__case__problem__contest")
    return sorted(marks, key=lambda mark: (mark.sealed_at or mark.created_at, mark.pk))


def mark_own(coordination: Coordination, user: User) -> Mark | None:
    """The user's own mark under coordination; None if they are no party."""
    return next((mark for mark in marks_of(coordination) if mark.marker_id == user.pk), None)


def all_claimed(coordination: Coordination) -> bool:
    """Whether all markers have claimed, so that claims and notes may be shown. Ignores markers who left the contest."""
    missing = {mark.marker_id for mark in marks_of(coordination) if str(mark.public_id) not in coordination.claims}
    return not coordination.case.problem.contest.coaches.filter(person__in=missing).exists()


def level_of(coordination: Coordination, user: User) -> CoordinationOutcome | None:
    """The level on which this user may rule: captain, or jury for an organiser; None for parties and others."""
    problem = coordination.case.problem
    coach = marker_row(user, problem)
    if coach is None or mark_own(coordination, user) is not None or not captain_is(user, problem):
        return None
    return CoordinationOutcome.CAPTAIN if problem.captain_id == user.pk else CoordinationOutcome.JURY


@transaction.atomic
def claim_make(*, coordination: Coordination, by: User, line: str) -> Coordination:
    """Enter or change the marker's claim, until all have claimed. Raises `CoordinationRefused`, `PositionWrong`."""
    coordination = _open(coordination)
    mark = mark_own(coordination, by)
    if mark is None:
        raise CoordinationRefused("Only the markers of this script can enter a claim.")
    if all_claimed(coordination):
        raise CoordinationRefused("All markers have entered their claims. Make a proposal instead.")
    scheme = scheme_now(coordination)
    position = position_read(scheme, line)
    sheet = sheet_at(MarkSheet(), position)
    points = sheet_points(sheet, scheme, _step(coordination)).points
    if points is None:
        raise CoordinationRefused("Enter the items that hold, or the points after “=”.")
    if points % _step(coordination):
        raise CoordinationRefused(f"{points_text(points)} is not a multiple of {points_text(_step(coordination))}.")
    coordination.claims = {**coordination.claims, str(mark.public_id): position_line(scheme, position)}
    _saved(coordination, "claims")
    audit("coordination.claim", actor=by, case=coordination.case, claim=position_line(scheme, position))
    return coordination


@transaction.atomic
def remark_add(*, coordination: Coordination, by: User, words: str) -> CoordinationRemark:
    """Add a remark to the discussion. Raises `CoordinationRefused` before all have claimed."""
    coordination = _open(coordination)
    words = words.strip()[:WORDS_LENGTH]
    if not words:
        raise CoordinationRefused("Enter a remark first.")
    if not all_claimed(coordination):
        raise CoordinationRefused("The discussion opens when all markers have entered their claims.")
    if mark_own(coordination, by) is None and level_of(coordination, by) is None:
        raise CoordinationRefused("Only the markers of this script and those who may rule on it can join the discussion.")
    return CoordinationRemark.objects.create(coordination=coordination, person=by, words=words)


@transaction.atomic
def proposal_make(*, coordination: Coordination, by: User, proposal: Proposal, based_on: int) -> Coordination:
    """Make a proposal, signed by its author. Removes the signatures of an earlier proposal.

    Raises `CoordinationRefused`, `CoordinationChanged`, `PositionWrong`.
    """
    coordination = _ready(coordination, by, based_on)
    _proposal_set(coordination, proposal)
    _saved(coordination, "sheet", "points", "reason")
    coordination.signatories.set([by])
    audit("coordination.proposal", actor=by, case=coordination.case, claim=proposal.line, reason=proposal.reason)
    return coordination


@transaction.atomic
def proposal_sign(*, coordination: Coordination, by: User, based_on: int) -> Coordination:
    """Sign the current proposal. The last signature of the markers settles the case.

    Raises `CoordinationRefused`, `CoordinationChanged`.
    """
    coordination = _ready(coordination, by, based_on)
    if coordination.sheet is None:
        raise CoordinationRefused("There is no proposal to sign yet.")
    coordination.signatories.add(by)
    _saved(coordination)
    audit("coordination.signed", actor=by, case=coordination.case, points=str(coordination.points))
    markers = {mark.marker_id for mark in marks_of(coordination)}
    if markers <= set(coordination.signatories.values_list("pk", flat=True)):
        coordination_settle(coordination, CoordinationOutcome.AGREED, by)
    return coordination


@transaction.atomic
def ruling_make(*, coordination: Coordination, by: User, proposal: Proposal, based_on: int) -> Coordination:
    """Rule on a disputed script. Raises `CoordinationRefused`, `CoordinationChanged`, `PositionWrong`."""
    coordination = _open(coordination, based_on)
    level = level_of(coordination, by)
    if level is None:
        raise CoordinationRefused(
            "You cannot rule on this script. The captain rules; if the captain marked it, an organiser who did not."
        )
    if not all_claimed(coordination):
        raise CoordinationRefused("A ruling needs the claims of all markers.")
    _proposal_set(coordination, proposal)
    _saved(coordination, "sheet", "points", "reason")
    coordination.signatories.set([by])
    coordination_settle(coordination, level, by)
    return coordination


def scheme_now(coordination: Coordination) -> Scheme:
    """The scheme that claims refer to."""
    return coordination.scheme_version.content if coordination.scheme_version else Scheme()


def claim_default(mark: Mark, scheme: Scheme) -> str:
    """The marker's sealed claim as a line to start from, without items that the scheme no longer has."""
    position = position_of(sheet_of(mark))
    codes = {item.code for item in scheme.items}
    return position_line(scheme, position.model_copy(update={"ticks": position.ticks & codes}))


def colleagues_show(coordination: Coordination, user: User) -> None:
    """Record in the ledger that this user was shown the colleagues' marks, once per mark."""
    if not all_claimed(coordination) and mark_own(coordination, user) is not None:
        return
    for mark in marks_of(coordination):
        if mark.marker_id != user.pk:
            Reveal.objects.get_or_create(
                case=coordination.case, person=user, kind=RevealKind.COLLEAGUE, mark=mark, defaults={"trigger": "coordination"}
            )


def _proposal_set(coordination: Coordination, proposal: Proposal) -> Position:
    """Put a proposal on the row. Raises `CoordinationRefused` with everything that is missing."""
    scheme, step = scheme_now(coordination), _step(coordination)
    position = position_read(scheme, proposal.line)
    reason = proposal.reason.strip()
    sheet = sheet_at(_notes(marks_of(coordination), proposal.keep), position)
    sheet = sheet.model_copy(update={"reason": reason[:REASON_LENGTH]})
    faults = missing_for_seal(sheet, scheme, step, asks_place=False)
    if not reason:
        faults.insert(0, "Enter a reason; it is kept with the grade.")
    if faults:
        raise CoordinationRefused(" ".join(faults))
    coordination.sheet, coordination.reason = sheet_json(sheet), reason[:WORDS_LENGTH]
    coordination.points = sheet_points(sheet, scheme, step).points
    return position


def _notes(marks: Sequence[Mark], keep: frozenset[str] | None) -> MarkSheet:
    """The chosen verdicts and comments of all marks; all of them if `keep` is None. Removes duplicates."""
    sheets = [sheet_of(mark) for mark in marks]
    verdicts = {one.id: one for sheet in sheets for one in sheet.verdicts if keep is None or one.id in keep}
    comments = {one.id: one for sheet in sheets for one in sheet.comments if keep is None or one.id in keep}
    rootless = [one.step for one in verdicts.values() if one.role is Role.CONSEQUENCE and one.root not in verdicts]
    if rootless:
        raise CoordinationRefused(f"{place_title(rootless[0])}: also include the error that this one follows from.")
    granted = frozenset(step for sheet in sheets for step in sheet.granted)
    ordered = sorted(verdicts.values(), key=lambda one: one.step)
    return MarkSheet(verdicts=tuple(ordered), comments=tuple(comments.values()), granted=granted)


def coordination_settle(coordination: Coordination, outcome: CoordinationOutcome, by: User) -> None:
    """Give the grade of a coordination whose sheet and points are decided, and settle its case."""
    coordination.outcome, coordination.closed_at = outcome, timezone.now()
    coordination.save(update_fields=["outcome", "closed_at"])
    _grade_give(coordination, by)
    state = states_settled([coordination.case])[coordination.case_id]
    MarkingCase.objects.filter(pk=coordination.case_id).update(state=state, row_version=F("row_version") + 1)
    points, reason = str(coordination.points), coordination.reason
    audit(f"coordination.{outcome.value}", actor=by, case=coordination.case, points=points, reason=reason)


def _grade_give(coordination: Coordination, by: User) -> FinalGrade:
    """The grade from the settled proposal; supersedes the previous grade."""
    assert coordination.points is not None
    assert coordination.sheet is not None
    worth = sheet_points(MarkSheet.model_validate(coordination.sheet), scheme_now(coordination), _step(coordination))
    return FinalGrade.objects.create(
        case=coordination.case,
        coordination=coordination,
        points=coordination.points,
        scheme_version=coordination.scheme_version,
        sheet=coordination.sheet,
        derivation=worth.derivation if worth.points == worth.computed else "",
        reason=coordination.reason[:REASON_LENGTH],
        supersedes=grade_of(coordination.case),
        by=by,
    )


def _ready(coordination: Coordination, by: User, based_on: int) -> Coordination:
    coordination = _open(coordination, based_on)
    if mark_own(coordination, by) is None:
        raise CoordinationRefused("Only the markers of this script can propose and sign.")
    if not all_claimed(coordination):
        raise CoordinationRefused("All markers must enter their claims first.")
    return coordination


def _open(coordination: Coordination, based_on: int | None = None) -> Coordination:
    """The locked row. Raises `CoordinationRefused` if it is settled, `CoordinationChanged` if it has a newer version."""
    rows = Coordination.objects.select_for_update(of=("self",)).select_related("scheme_version", "case__problem__contest")
    locked = rows.get(pk=coordination.pk)
    if locked.outcome:
        raise CoordinationRefused("This script is settled already.")
    if based_on is not None and locked.row_version != based_on:
        raise CoordinationChanged("Nothing was saved: the proposal changed meanwhile. Read the new one first.")
    return locked


def _saved(coordination: Coordination, *fields: str) -> None:
    """Save and increase the version; fails for the later of two concurrent changes on databases without row locks."""
    before = Coordination.objects.filter(pk=coordination.pk, row_version=coordination.row_version)
    coordination.row_version += 1
    values = {field: getattr(coordination, field) for field in fields}
    if not before.update(row_version=coordination.row_version, **values):
        raise CoordinationChanged("Nothing was saved: another change came first. Read the current state.")


def _step(coordination: Coordination) -> Decimal:
    return step_of(coordination.case.problem.contest)
