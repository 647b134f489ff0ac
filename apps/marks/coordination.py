"""Two or three markers who differ settle a script on one page. Claims first, sealed until all have claimed; then differences.

| step | who | what |
|---|---|---|
| claim | each marker who still coaches | items or points held now; nobody sees another's claim or notes before all claimed |
| discuss | markers, captain | lines of words |
| propose, sign | markers | a claim with a reason; it counts when all have signed the same proposal |
| rule | captain, if no party; else an organiser as jury | a claim with a reason |

The marks stay as they are, whatever is settled. Nothing is averaged and nothing is filled in.
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
from apps.marks.comparing import states_settled
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
from apps.reasoning.marking.commands import sheet_json
from apps.reasoning.marking.positions import Position, position_line, position_of, position_read, sheet_at
from apps.reasoning.marking.scheme import Scheme, points_text
from apps.reasoning.marking.sealing import missing_for_seal, sheet_points
from apps.reasoning.marking.sheet import REASON_LENGTH, WORDS_LENGTH, MarkSheet, Role


class CoordinationRefused(Exception):
    """This cannot be done now, or something is missing; the message says what."""


class CoordinationChanged(Exception):
    """Somebody else proposed or settled meanwhile; what was sent is not done."""


@dataclass(frozen=True)
class Proposal:
    """What shall become the grade: a position line, why, and which verdicts and comments go along (by id)."""

    line: str
    reason: str
    keep: frozenset[str] | None = None


def marks_of(coordination: Coordination) -> list[Mark]:
    """The positions, in the order of their slots."""
    marks = coordination.marks.select_related("marker", "scheme_version", "task__case__problem__contest")
    return sorted(marks, key=lambda mark: (mark.sealed_at or mark.created_at, mark.pk))


def mark_own(coordination: Coordination, user: User) -> Mark | None:
    """The person's own mark among the positions."""
    return next((mark for mark in marks_of(coordination) if mark.marker_id == user.pk), None)


def are_open(coordination: Coordination) -> bool:
    """Whether all have claimed, so that claims and notes may be seen. Who left the contest is not waited for."""
    missing = {mark.marker_id for mark in marks_of(coordination) if str(mark.public_id) not in coordination.claims}
    return not coordination.case.problem.contest.coaches.filter(person__in=missing).exists()


def level_of(coordination: Coordination, user: User) -> CoordinationOutcome | None:
    """On which level this person may rule: the captain of the problem, an organiser as the jury; a party never."""
    problem = coordination.case.problem
    coach = marker_row(user, problem)
    if coach is None or mark_own(coordination, user) is not None or not captain_is(user, problem):
        return None
    return CoordinationOutcome.CAPTAIN if problem.captain_id == user.pk else CoordinationOutcome.JURY


@transaction.atomic
def claim_make(*, coordination: Coordination, by: User, line: str) -> Coordination:
    """Say what one holds now. It can be said anew until all have claimed. Raises `CoordinationRefused`, `PositionWrong`."""
    coordination = _open(coordination)
    mark = mark_own(coordination, by)
    if mark is None:
        raise CoordinationRefused("Only those who marked the script claim.")
    if are_open(coordination):
        raise CoordinationRefused("All have claimed; propose instead.")
    scheme = scheme_now(coordination)
    position = position_read(scheme, line)
    sheet = sheet_at(MarkSheet(), position)
    points = sheet_points(sheet, scheme, _step(coordination)).points
    if points is None:
        raise CoordinationRefused("Say which items hold, or the points after “=”.")
    if points % _step(coordination):
        raise CoordinationRefused(f"{points_text(points)} is no multiple of {points_text(_step(coordination))}.")
    coordination.claims = {**coordination.claims, str(mark.public_id): position_line(scheme, position)}
    _saved(coordination, "claims")
    audit("coordination.claim", actor=by, case=coordination.case, claim=position_line(scheme, position))
    return coordination


@transaction.atomic
def remark_add(*, coordination: Coordination, by: User, words: str) -> CoordinationRemark:
    """A line of the discussion. Raises `CoordinationRefused` before all have claimed."""
    coordination = _open(coordination)
    words = words.strip()[:WORDS_LENGTH]
    if not words:
        raise CoordinationRefused("Write something first.")
    if not are_open(coordination):
        raise CoordinationRefused("The discussion begins when all have claimed.")
    if mark_own(coordination, by) is None and level_of(coordination, by) is None:
        raise CoordinationRefused("Only those who marked the script and who may rule on it speak here.")
    return CoordinationRemark.objects.create(coordination=coordination, person=by, words=words)


@transaction.atomic
def proposal_make(*, coordination: Coordination, by: User, proposal: Proposal, based_on: int) -> Coordination:
    """Propose what shall count; whoever proposes has signed, and signatures of an earlier proposal are gone.

    Raises `CoordinationRefused`, `CoordinationChanged`, `PositionWrong`.
    """
    coordination = _ready(coordination, by, based_on)
    _filled(coordination, proposal)
    _saved(coordination, "sheet", "points", "reason")
    coordination.signatories.set([by])
    audit("coordination.proposal", actor=by, case=coordination.case, claim=proposal.line, reason=proposal.reason)
    return coordination


@transaction.atomic
def proposal_sign(*, coordination: Coordination, by: User, based_on: int) -> Coordination:
    """Agree to the proposal that stands. Signed by all who marked, it settles the case.

    Raises `CoordinationRefused`, `CoordinationChanged`.
    """
    coordination = _ready(coordination, by, based_on)
    if coordination.sheet is None:
        raise CoordinationRefused("Nothing is proposed yet.")
    coordination.signatories.add(by)
    _saved(coordination)
    audit("coordination.signed", actor=by, case=coordination.case, points=str(coordination.points))
    markers = {mark.marker_id for mark in marks_of(coordination)}
    if markers <= set(coordination.signatories.values_list("pk", flat=True)):
        _settle(coordination, CoordinationOutcome.AGREED, by)
    return coordination


@transaction.atomic
def ruling_make(*, coordination: Coordination, by: User, proposal: Proposal, based_on: int) -> Coordination:
    """Rule on what markers do not agree on. Raises `CoordinationRefused`, `CoordinationChanged`, `PositionWrong`."""
    coordination = _open(coordination, based_on)
    level = level_of(coordination, by)
    if level is None:
        raise CoordinationRefused("The captain rules, unless a party; then an organiser who did not mark the script.")
    if not are_open(coordination):
        raise CoordinationRefused("A ruling needs the claims of all who marked.")
    _filled(coordination, proposal)
    _saved(coordination, "sheet", "points", "reason")
    coordination.signatories.set([by])
    _settle(coordination, level, by)
    return coordination


def scheme_now(coordination: Coordination) -> Scheme:
    """The scheme that claims are read by."""
    return coordination.scheme_version.content if coordination.scheme_version else Scheme()


def claim_default(mark: Mark, scheme: Scheme) -> str:
    """The marker's own sealed claim as a line, to begin from; without items that the scheme no longer has."""
    position = position_of(sheet_of(mark))
    codes = {item.code for item in scheme.items}
    return position_line(scheme, position.model_copy(update={"ticks": position.ticks & codes}))


def colleagues_show(coordination: Coordination, user: User) -> None:
    """Keep in the ledger that this person was shown the others' marks; once for each."""
    if not are_open(coordination) and mark_own(coordination, user) is not None:
        return
    for mark in marks_of(coordination):
        if mark.marker_id != user.pk:
            Reveal.objects.get_or_create(
                case=coordination.case, person=user, kind=RevealKind.COLLEAGUE, mark=mark, defaults={"trigger": "coordination"}
            )


def _filled(coordination: Coordination, proposal: Proposal) -> Position:
    """Put a proposal on the row. Raises `CoordinationRefused` with everything that is missing."""
    scheme, step = scheme_now(coordination), _step(coordination)
    position = position_read(scheme, proposal.line)
    reason = proposal.reason.strip()
    sheet = sheet_at(_notes(marks_of(coordination), proposal.keep), position)
    sheet = sheet.model_copy(update={"reason": reason[:REASON_LENGTH]})
    faults = missing_for_seal(sheet, scheme, step, asks_place=False)
    if not reason:
        faults.insert(0, "Say why; the reason is kept.")
    if faults:
        raise CoordinationRefused(" ".join(faults))
    coordination.sheet, coordination.reason = sheet_json(sheet), reason[:WORDS_LENGTH]
    coordination.points = sheet_points(sheet, scheme, step).points
    return position


def _notes(marks: Sequence[Mark], keep: frozenset[str] | None) -> MarkSheet:
    """The verdicts and comments of all marks that go along; all of them where nothing was chosen. Doubles go along once."""
    sheets = [sheet_of(mark) for mark in marks]
    verdicts = {one.id: one for sheet in sheets for one in sheet.verdicts if keep is None or one.id in keep}
    comments = {one.id: one for sheet in sheets for one in sheet.comments if keep is None or one.id in keep}
    loose = [one.step for one in verdicts.values() if one.role is Role.CONSEQUENCE and one.root not in verdicts]
    if loose:
        raise CoordinationRefused(f"Step {loose[0]}: the error that this one follows from does not go along.")
    granted = frozenset(step for sheet in sheets for step in sheet.granted)
    ordered = sorted(verdicts.values(), key=lambda one: one.step)
    return MarkSheet(verdicts=tuple(ordered), comments=tuple(comments.values()), granted=granted)


def _settle(coordination: Coordination, outcome: CoordinationOutcome, by: User) -> None:
    coordination.outcome, coordination.closed_at = outcome, timezone.now()
    coordination.save(update_fields=["outcome", "closed_at"])
    _grade_give(coordination, by)
    state = states_settled([coordination.case])[coordination.case_id]
    MarkingCase.objects.filter(pk=coordination.case_id).update(state=state, row_version=F("row_version") + 1)
    points, reason = str(coordination.points), coordination.reason
    audit(f"coordination.{outcome.value}", actor=by, case=coordination.case, points=points, reason=reason)


def _grade_give(coordination: Coordination, by: User) -> FinalGrade:
    """The grade of what was settled; it supersedes the one before it."""
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
        raise CoordinationRefused("Only those who marked the script agree on it.")
    if not are_open(coordination):
        raise CoordinationRefused("First all claim.")
    return coordination


def _open(coordination: Coordination, based_on: int | None = None) -> Coordination:
    """The row, locked. Raises `CoordinationRefused` where it is settled, `CoordinationChanged` where it moved on."""
    rows = Coordination.objects.select_for_update(of=("self",)).select_related("scheme_version", "case__problem__contest")
    locked = rows.get(pk=coordination.pk)
    if locked.outcome:
        raise CoordinationRefused("This is settled.")
    if based_on is not None and locked.row_version != based_on:
        raise CoordinationChanged("Somebody proposed something else meanwhile. Look at it first.")
    return locked


def _saved(coordination: Coordination, *fields: str) -> None:
    """Save and count up; of two that began from the same state on a database without row locks one comes too late."""
    before = Coordination.objects.filter(pk=coordination.pk, row_version=coordination.row_version)
    coordination.row_version += 1
    values = {field: getattr(coordination, field) for field in fields}
    if not before.update(row_version=coordination.row_version, **values):
        raise CoordinationChanged("Somebody was faster. Look at the page again.")


def _step(coordination: Coordination) -> Decimal:
    return step_of(coordination.case.problem.contest)
