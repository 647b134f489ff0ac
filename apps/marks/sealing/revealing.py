"""Reveal suggestions to a marker after sealing: one stage at a time, recorded in the ledger, each finding answered.

Nothing is shown before sealing, on a random share of papers, on re-marks and on calibration scripts. Viewing suggestions closes
the time in which a mark can be reopened. Points change for one of four reasons only; the sealed mark never changes.
"""

from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.marks.coordination.comparing import case_compare, fresh_open, is_grade_independent, marks_counted
from apps.marks.graders.families import origin_of
from apps.marks.models import CaseState, FindingAnswer, Mark, MarkState, Reveal, RevealKind, Slot, Suggestion
from apps.marks.sealing.revising import mark_confirm, mark_revise
from apps.marks.sheets import places_of, scheme_of, sheet_of, step_of
from apps.marks.suggestions.suggesting import body_of, suggestions_of
from apps.reasoning.marking.revealing import (
    CHANGE_WORDS,
    ChangeReason,
    Shown,
    Stage,
    change_faults,
    drawn_order,
    is_large,
    is_without_reveal,
    next_stage,
)
from apps.reasoning.marking.sheets.pages import place_words
from apps.reasoning.marking.sheets.positions import position_read, sheet_at
from apps.reasoning.marking.sheets.sealing import missing_for_seal, sheet_points
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, MarkSheet, Role, StepVerdict

OPEN_SLOTS = (Slot.FIRST, Slot.SECOND, Slot.THIRD, Slot.APPEAL)


class RevealRefused(Exception):
    """This cannot be shown or done now; the message gives the reason."""


@dataclass(frozen=True)
class Change:
    """A changed claim with its grounds: claim line, one of the four reasons, the step, words."""

    line: str
    reason: str
    step: int | None = None
    words: str = ""


def reveal_refusal(mark: Mark) -> str:
    """Why no suggestions are shown for this mark; empty if they may be."""
    task = mark.task
    if mark.state in (MarkState.DRAFT, MarkState.VOID):
        return "Seal your mark first."
    setup = task.case.problem.setup
    if task.slot not in OPEN_SLOTS:
        return "No suggestions are shown for this script."
    if is_without_reveal(setup.seed, str(task.case.public_id), setup.unrevealed_percent):
        return "This script is marked without suggestions. A random share is, to measure their effect."
    return ""


def stages_shown(mark: Mark) -> set[Stage]:
    """The stages that this marker was shown for this mark."""
    return {Stage(kind) for kind in _ledger(mark).values_list("kind", flat=True)}


def suggestions_shown(mark: Mark) -> list[Suggestion]:
    """The suggestions for this marker: those of the first stage once it was shown, else the current ones."""
    met = _ledger(mark).filter(kind=RevealKind.LOCATIONS)
    if met.exists():
        return list(Suggestion.objects.filter(pk__in=met.values("suggestion")).order_by("grader", "pk"))
    return list(suggestions_of(mark))


def findings_shown(mark: Mark) -> list[tuple[Shown, bool | None]]:
    """The findings in their random order, each with the marker's answer; empty before their stage."""
    if Stage.FINDINGS not in stages_shown(mark):
        return []
    rows = suggestions_shown(mark)
    shown = [Shown(str(row.public_id), finding) for row in rows for finding in body_of(row).findings]
    answers = FindingAnswer.objects.filter(suggestion__in=rows, person=mark.marker)
    known = {(str(one.suggestion.public_id), one.finding): one.is_accepted for one in answers.select_related("suggestion")}
    seed = f"{mark.task.case.problem.setup.seed}/{mark.public_id}"
    return [(one, known.get((one.suggestion, one.finding.id))) for one in drawn_order(shown, seed)]


@transaction.atomic
def stage_show(*, mark: Mark, stage: Stage) -> None:
    """Show the next stage to the marker; showing a stage again has no effect. Raises `RevealRefused`."""
    mark = _sealed(mark)
    shown = stages_shown(mark)
    if stage in shown:
        return
    waiting = sum(answer is None for _, answer in findings_shown(mark))
    if stage is not next_stage(shown, open_findings=waiting):
        raise RevealRefused("Answer every finding first." if stage is Stage.ITEMS else "Open the earlier stage first.")
    rows = suggestions_shown(mark)
    if not rows:
        raise RevealRefused("There are no suggestions for this script.")
    for row in rows:
        Reveal.objects.create(
            case=mark.task.case, person=mark.marker, kind=RevealKind(stage.value), suggestion=row, trigger="asked after sealing"
        )


@transaction.atomic
def finding_answer(*, mark: Mark, suggestion: str, finding: str, is_accepted: bool) -> None:
    """Accept or reject a finding that was shown. The answer can change until the mark is kept or changed.

    The seconds count from the stage or the previous answer. Raises `RevealRefused`.
    """
    mark = _sealed(mark)
    if mark.state != MarkState.SEALED:
        raise RevealRefused("You have already kept or changed your mark, so answers are final.")
    if (suggestion, finding) not in {(one.suggestion, one.finding.id) for one, _ in findings_shown(mark)}:
        raise RevealRefused("This finding was not shown to you.")
    row = Suggestion.objects.get(public_id=suggestion)
    FindingAnswer.objects.update_or_create(
        suggestion=row,
        person=mark.marker,
        finding=finding,
        defaults={"is_accepted": is_accepted},
        create_defaults={"is_accepted": is_accepted, "seconds": _seconds(mark)},
    )


@transaction.atomic
def mark_keep(*, mark: Mark) -> Mark:
    """Keep the points. Accepted findings become verdicts of the mark. Raises `RevealRefused`."""
    mark = _decidable(mark)
    before, own = mark.points or Decimal(0), sheet_of(mark)
    sheet = _with_accepted(mark, own)
    if sheet == own:
        mark = mark_confirm(mark=mark, user=mark.marker)
    else:
        mark = mark_revise(mark=mark, user=mark.marker, points=before, reason="Findings accepted as verdicts", sheet=sheet)
    _look_further(mark, before)
    return mark


@transaction.atomic
def mark_change(*, mark: Mark, change: Change) -> Mark:
    """Change the claim after viewing suggestions. Raises `RevealRefused` with what is missing, `PositionWrong`.

    If the new points are far from the sealed points or from a grader's, a fresh marker is asked.
    """
    mark = _decidable(mark)
    scheme, old = scheme_of(mark), sheet_of(mark)
    before = mark.points or Decimal(0)
    sheet = sheet_at(old, position_read(scheme, change.line))
    sheet = sheet.model_copy(update={"reason": change.words or old.reason})
    step = step_of(mark.task.case.problem.contest)
    points = sheet_points(sheet, scheme, step).points
    faults = change_faults(
        before=before,
        after=before if points is None else points,
        reason=change.reason,
        step=change.step,
        steps=places_of(mark.task.case.version),
        is_changed=(points, sheet.ticks) != (mark.points, old.ticks),
    )
    faults += missing_for_seal(sheet, scheme, step, asks_place=False)
    if faults or points is None:
        raise RevealRefused(" ".join(faults))
    place = f" ({place_words(change.step)})" if change.step else ""
    reason = f"{CHANGE_WORDS[ChangeReason(change.reason)]}{place}. {change.words}".strip()
    mark = mark_revise(
        mark=mark, user=mark.marker, points=points, reason=reason[:REASON_LENGTH], sheet=_with_accepted(mark, sheet)
    )
    _look_further(mark, before)
    return mark


def is_decidable(mark: Mark) -> bool:
    """Whether the marker may keep or change the points now: every finding is answered and comparison has not begun."""
    answers = [answer for _, answer in findings_shown(mark)]
    return (
        mark.state == MarkState.SEALED
        and Stage.FINDINGS in stages_shown(mark)
        and None not in answers
        and not _is_compared(mark)
    )


def _decidable(mark: Mark) -> Mark:
    mark = _sealed(mark)
    if _is_compared(mark):
        raise RevealRefused("The marks are being compared already. Raise your point in the coordination.")
    if not is_decidable(mark):
        raise RevealRefused("View the findings and answer each of them first. A mark can be kept or changed only once.")
    return mark


def _is_compared(mark: Mark) -> bool:
    case = mark.task.case
    is_seen = Reveal.objects.filter(case=case, person=mark.marker, kind=RevealKind.COLLEAGUE).exists()
    return is_seen or case.state in (CaseState.DISPUTED, CaseState.RELEASED, CaseState.APPEALED)


def _ledger(mark: Mark) -> QuerySet[Reveal]:
    kinds = [stage.value for stage in Stage]
    return Reveal.objects.filter(case=mark.task.case, person=mark.marker, kind__in=kinds, suggestion__isnull=False)


def _sealed(mark: Mark) -> Mark:
    """The current row, locked for this transaction. Raises `RevealRefused`."""
    Mark.objects.select_for_update().get(pk=mark.pk)
    mark = Mark.objects.select_related(
        "marker", "scheme_version", "task__case__problem__contest", "task__case__problem__setup", "task__case__version"
    ).get(pk=mark.pk)
    if refusal := reveal_refusal(mark):
        raise RevealRefused(refusal)
    return mark


def _seconds(mark: Mark) -> float:
    shown = _ledger(mark).filter(kind=RevealKind.FINDINGS)
    answered = FindingAnswer.objects.filter(person=mark.marker, suggestion__in=shown.values("suggestion"))
    moments = [*shown.values_list("at", flat=True), *answered.values_list("at", flat=True)]
    return (timezone.now() - max(moments)).total_seconds()


def _with_accepted(mark: Mark, sheet: MarkSheet) -> MarkSheet:
    """The sheet with accepted findings as verdicts. The marker's own verdict of the same type at a step takes precedence."""
    own = {(verdict.step, verdict.fallacy) for verdict in sheet.verdicts}
    accepted = [one for one, answer in findings_shown(mark) if answer and (one.finding.step, one.finding.fallacy) not in own]
    origins = {str(row.public_id): origin_of(row.grader) for row in suggestions_shown(mark)}
    added = tuple(
        StepVerdict(
            id=f"{one.suggestion[:8]}-{one.finding.id}"[:36],
            step=one.finding.step,
            anchor=one.finding.anchor,
            fallacy=one.finding.fallacy,
            role=Role.INDEPENDENT,
            words=one.finding.words,
            origin=origins[one.suggestion],
        )
        for one in sorted(accepted, key=lambda one: one.finding.step)
    )
    return sheet.model_copy(update={"verdicts": (*sheet.verdicts, *added)})


def _look_further(mark: Mark, before: Decimal) -> None:
    """Open a fresh task if the difference is large, and compare again if the case was settled.

    Does neither if the mark no longer decides the case: the script was marked again, an appeal was granted, or the grade was
    recomputed.
    """
    marks = marks_counted(mark.task.case)
    if mark not in marks or is_grade_independent(mark.task.case, marks):
        return
    scale, now = scheme_of(mark).scale, mark.points or Decimal(0)
    expected = [body_of(row).expected_of(scale) for row in suggestions_shown(mark)]
    gaps = [now - before, *(now - one for one in expected if one is not None)]
    if any(is_large(gap, scale) for gap in gaps):
        fresh_open(case=mark.task.case, why="points far from the sealed or suggested ones")
    if mark.task.case.state == CaseState.SETTLED:
        case_compare(mark.task.case)
