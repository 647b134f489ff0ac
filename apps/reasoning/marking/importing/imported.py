"""The result of an import: the scheme, its original form, and notes to read before using it."""

from decimal import Decimal

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.evaluation import evaluate
from apps.reasoning.marking.schemes.faults import Fault, FormWrong
from apps.reasoning.marking.schemes.scheme import ITEMS_AT_MOST, TEXT_LENGTH, Kind, Scheme, SchemeItem, points_text
from apps.reasoning.marking.schemes.structure import structure_issues


class Imported(Value):
    """An imported scheme. `notes`: assumptions and parts that were not understood, one sentence each."""

    scheme: Scheme
    shape: str
    notes: tuple[str, ...] = ()


def refuse_too_large(items: int, texts: list[str]) -> None:
    """Raise `FormWrong` if a scheme would exceed the size limit."""
    if items > ITEMS_AT_MOST:
        raise FormWrong((Fault(where="", message=f"There are {items} items; {ITEMS_AT_MOST} are the most."),))
    if longest := max(map(len, texts), default=0) > TEXT_LENGTH and max(map(len, texts)):
        raise FormWrong((Fault(where="", message=f"A text of {longest:,} characters; {TEXT_LENGTH:,} are the most."),))


def scale_found(scheme: Scheme) -> tuple[Scheme, tuple[str, ...]]:
    """The scheme with the scale that its best chain reaches, and a note of it; unchanged where it cannot be computed."""
    if structure_issues(scheme):
        return scheme, ()
    best = evaluate(scheme, (item.code for item in scheme.of_kind(Kind.CHECKPOINT))).route.worth
    step = Decimal(1) if all(item.points % 1 == 0 for item in scheme.items) else Decimal("0.5")
    found = scheme.model_copy(update={"scale": best or scheme.scale, "step": step})
    return found, (f"The scale is {points_text(found.scale)}, the most that the points listed reach.",)


def code_free(wanted: str, items: list[SchemeItem]) -> str:
    """`wanted` if it is an unused code, else the first unused one of `wanted1`, `wanted2`, …"""
    used = {item.code.casefold() for item in items}
    number = 1
    while f"{wanted}{number}".casefold() in used:
        number += 1
    return f"{wanted}{number}"
