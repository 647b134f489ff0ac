"""The part of a judgement that a student sees: the derivation without internal details, and remarks for students only.

Bands, approaches, typed reasons, notes and comments for markers are left out; so are caps that did not apply.
"""

from decimal import Decimal

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.derivation import derivation_line
from apps.reasoning.marking.schemes.evaluation import MixingNotAllowed, TickUnknown, evaluate
from apps.reasoning.marking.schemes.scheme import Kind, Scheme, SchemeItem, points_text
from apps.reasoning.marking.schemes.structure import SchemeBroken
from apps.reasoning.marking.sheets.sheet import Comment, MarkSheet

#: Who found an error, where it was not the marker: every sentence of a model is labelled.
ORIGINS = {
    "model": "AI: found and worded by a model, accepted by a marker",
    "program": "Computed by a program, accepted by a marker",
}
_SHOWN_KINDS = {Kind.CHECKPOINT, Kind.DEDUCTION, Kind.CAP, Kind.ZERO_CREDIT}


class ItemShown(Value):
    """A scheme item as a student reads it: without notes. `is_ticked`: it was found in their text."""

    code: str
    kind: Kind
    points: Decimal
    text: str
    chains: tuple[str, ...]
    lineage: str
    is_ticked: bool


def derivation_shown(scheme: Scheme, sheet: MarkSheet, points: Decimal) -> str:
    """From the items found to the points, in one line; empty where the points were given for the whole text."""
    if not sheet.ticks:
        return ""
    try:
        result = evaluate(scheme, sheet.ticks, is_mixed=sheet.is_mixed)
    except (SchemeBroken, TickUnknown, MixingNotAllowed):
        return ""
    route = result.route.model_copy(update={"caps": tuple(cap for cap in result.route.caps if cap.is_ticked)})
    ticked = tuple(cap for cap in result.caps if cap.is_ticked)
    line = derivation_line(result.model_copy(update={"route": route, "caps": ticked, "choices": ()}))
    return line if points == result.points else f"{line}; the markers decided {points_text(points)}"


def items_ticked(scheme: Scheme, sheet: MarkSheet) -> tuple[ItemShown, ...]:
    """The items that were found in the text and are in its derivation, in the scheme's order."""
    return tuple(_shown(item, sheet) for item in scheme.items if item.code in sheet.ticks and item.kind in _SHOWN_KINDS)


def items_written(scheme: Scheme, sheet: MarkSheet) -> tuple[ItemShown, ...]:
    """The whole scheme as it is written to students: no notes, no remarks to markers."""
    return tuple(_shown(item, sheet) for item in scheme.items)


def remarks_ticked(scheme: Scheme, sheet: MarkSheet) -> tuple[str, ...]:
    """The texts of the feedback items that hold."""
    return tuple(item.text for item in scheme.of_kind(Kind.FEEDBACK) if item.code in sheet.ticks and item.text)


def comments_shown(sheet: MarkSheet) -> tuple[Comment, ...]:
    """The comments that are written to the student."""
    return tuple(comment for comment in sheet.comments if comment.audience == "student")


def _shown(item: SchemeItem, sheet: MarkSheet) -> ItemShown:
    return ItemShown(
        code=item.code,
        kind=item.kind,
        points=item.points,
        text=item.text,
        chains=item.chains,
        lineage=item.lineage,
        is_ticked=item.code in sheet.ticks,
    )
