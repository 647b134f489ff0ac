"""The worth of a sheet, and what it lacks before sealing."""

from collections.abc import Iterator
from decimal import Decimal

from apps.reasoning.marking.schemes.derivation import derivation_line
from apps.reasoning.marking.schemes.evaluation import Evaluation, MixingNotAllowed, TickUnknown, evaluate
from apps.reasoning.marking.schemes.scheme import Kind, Scheme, points_text
from apps.reasoning.marking.schemes.structure import SchemeBroken
from apps.reasoning.marking.sheets.pages import place_title
from apps.reasoning.marking.sheets.sheet import Band, MarkSheet, Role, SheetPoints

#: Of 7, and in proportion of other scales: the middle, which is rare; the most of a beginning, the least of a solution.
MIDDLE = (3, 5)
BEGINNING_AT_MOST, SOLUTION_AT_LEAST = 3, 4
SEVEN = 7


def sheet_evaluation(sheet: MarkSheet, scheme: Scheme, step: Decimal) -> Evaluation | None:
    """What the ticks are worth; None where nothing but remarks to the student is ticked, or the scheme does not fit."""
    remarks = {item.code for item in scheme.of_kind(Kind.FEEDBACK)}
    if not sheet.ticks - remarks:
        return None
    try:
        return evaluate(scheme, sheet.ticks, step=step, is_mixed=sheet.is_mixed)
    except (TickUnknown, MixingNotAllowed, SchemeBroken):
        return None


def sheet_points(sheet: MarkSheet, scheme: Scheme, step: Decimal) -> SheetPoints:
    """The points of a sheet: those typed, else those of its ticks. `step` is the contest's."""
    result = sheet_evaluation(sheet, scheme, step)
    computed = result.points if result else None
    points = sheet.typed if sheet.typed is not None else computed
    return SheetPoints(points=points, computed=computed, derivation=derivation_line(result) if result else "")


def missing_for_seal(sheet: MarkSheet, scheme: Scheme, step: Decimal, *, asks_place: bool, has_steps: bool = True) -> list[str]:
    """What a sheet lacks, a sentence each. With `asks_place` points between none and all need a reason with its place.

    Pages are places too. A script with neither text nor pages has its place in a comment on the whole.
    """
    result = sheet_evaluation(sheet, scheme, step)
    points = sheet_points(sheet, scheme, step).points
    lacks = [*_sheet_lacks(sheet, scheme)]
    if points is None:
        return ["Give points: type a number or tick items.", *lacks]
    lacks += _points_wrong(points, sheet, result, scheme, step)
    lacks += _reasons_lacking(points, sheet, result, scheme)
    if asks_place and 0 < points < scheme.scale and not _has_place(sheet, has_steps=has_steps):
        where = "an item ticked at a step or page, or a verdict or a comment there" if has_steps else "a comment"
        lacks.append(f"Points between none and all need {where}.")
    return lacks


def _sheet_lacks(sheet: MarkSheet, scheme: Scheme) -> Iterator[str]:
    if unknown := sorted(sheet.ticks - {item.code for item in scheme.items}):
        yield f"The scheme has no item {', '.join(unknown)}."
    keys = {one.id for one in sheet.verdicts}
    for one in sheet.verdicts:
        if one.role is Role.CONSEQUENCE and one.root not in keys:
            yield f"{place_title(one.step)}: say which error this is a consequence of."
    if sheet.is_mixed and not scheme.mixing:
        yield "This scheme does not add the points of several chains."
    elif sheet.is_mixed and not sheet.reason:
        yield "A mixed case needs a reason."


def _points_wrong(points: Decimal, sheet: MarkSheet, result: Evaluation | None, scheme: Scheme, step: Decimal) -> Iterator[str]:
    if points > scheme.scale:
        yield f"{points_text(points)} is more than the scale of {points_text(scheme.scale)}."
    if sheet.typed is None and result is not None and result.choices:
        choices = " or ".join(points_text(choice) for choice in result.choices)
        yield f"The items give {points_text(points)}, which is not on the contest's step: type {choices}."
    elif points % step:
        yield f"{points_text(points)} is no multiple of {points_text(step)}."


def _reasons_lacking(points: Decimal, sheet: MarkSheet, result: Evaluation | None, scheme: Scheme) -> Iterator[str]:
    if sheet.reason:
        return
    given = points_text(points)
    is_between = result is not None and points in result.choices
    if sheet.typed is not None and result is not None and result.points != points and not is_between:
        yield f"The items give {points_text(result.points)} and you typed {given}: say why."
    of_seven = points * SEVEN / scheme.scale
    is_earned = result is not None and bool(result.route.terms) and (is_between or result.points == points)
    if MIDDLE[0] <= of_seven <= MIDDLE[1] and not is_earned and not sheet.approach:
        yield f"{given} is in the middle of the scale: tick the items of a chain, or say why."
    if points == scheme.scale and any(one.role is Role.INDEPENDENT for one in sheet.verdicts):
        yield "All points in spite of an independent error: call it harmless, or say why."
    if sheet.band is Band.SOLUTION and of_seven < SOLUTION_AT_LEAST:
        yield f"You said that it is essentially a solution and give {given}: say why."
    if sheet.band is Band.BEGINNING and of_seven > BEGINNING_AT_MOST:
        yield f"You said that it is a beginning and give {given}: say why."


def _has_place(sheet: MarkSheet, *, has_steps: bool) -> bool:
    return bool(sheet.verdicts) or bool(sheet.places) or any(comment.step or not has_steps for comment in sheet.comments)
