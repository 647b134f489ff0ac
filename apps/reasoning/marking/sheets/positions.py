"""The claims of two markers, and their differences.

A position is a claim line that may end in points: `A1 c1`, `A1 c1 =5`, or `=5` where nothing is ticked.
"""

import re
from collections.abc import Iterable
from decimal import Decimal

from pydantic import ValidationError

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.faults import validation_faults
from apps.reasoning.marking.schemes.scheme import Code, Points, Scheme, points_text, points_words
from apps.reasoning.marking.sheets.claims import ClaimWrong, claim_line, claim_read
from apps.reasoning.marking.sheets.sheet import MarkSheet, Role, StepVerdict

LINE_LENGTH = 2_000
_TYPED = re.compile(r"(?:^|[\s,])=\s*(\d{1,4}(?:[.,]\d{1,2})?)\s*$", re.ASCII)


class Position(Value):
    """Ticks, and points where they are typed and not computed."""

    ticks: frozenset[Code] = frozenset()
    is_mixed: bool = False
    typed: Points | None = None


class PositionWrong(ValueError):
    """A position that cannot be read; the message says why."""


class ItemDifference(Value):
    """An item that only some markers claim: one sign per position, in their order."""

    code: str
    held: tuple[bool, ...]


class StepDifference(Value):
    """A step with differing verdicts: the verdicts of each marker there, perhaps none."""

    step: int
    said: tuple[tuple[StepVerdict, ...], ...]


def position_read(scheme: Scheme, line: str) -> Position:
    """Read the position on a line. Raises `PositionWrong`."""
    line = line[:LINE_LENGTH].strip()
    found = _TYPED.search(line)
    typed = Decimal(found.group(1).replace(",", ".")) if found else None
    codes = (line[: found.start()] if found else line).strip()
    if not codes and typed is None:
        raise PositionWrong("Say which items hold, or the points after “=”.")
    if "=" in codes:
        raise PositionWrong(f"End the line with “=” and a number from 0 to {points_text(scheme.scale)}, such as =5 or =2.5.")
    if typed is not None and typed > scheme.scale:
        raise PositionWrong(f"Give at most {points_words(scheme.scale)}.")
    try:
        claim = claim_read(scheme, codes)
        return Position(ticks=claim.ticks, is_mixed=claim.is_mixed, typed=typed)
    except ClaimWrong as wrong:
        raise PositionWrong(str(wrong)) from wrong
    except ValidationError as error:
        raise PositionWrong(validation_faults(error)[0].message) from error


def position_line(scheme: Scheme, position: Position) -> str:
    """The line that `position_read` reads back."""
    codes = claim_line(scheme, position.ticks, is_mixed=position.is_mixed)
    points = f"={points_text(position.typed)}" if position.typed is not None else ""
    return " ".join(part for part in (codes, points) if part)


def sheet_at(sheet: MarkSheet, position: Position) -> MarkSheet:
    """The sheet with another claim; verdicts, comments and granted steps stay."""
    return sheet.with_ticks(position.ticks, is_mixed=position.is_mixed, typed=position.typed)


def position_of(sheet: MarkSheet) -> Position:
    """The position of a sheet."""
    return Position(ticks=sheet.ticks, is_mixed=sheet.is_mixed, typed=sheet.typed)


def item_differences(scheme: Scheme, positions: Iterable[Position]) -> list[ItemDifference]:
    """The items that not all claim, in the scheme's order."""
    held = list(positions)
    rows = [ItemDifference(code=item.code, held=tuple(item.code in one.ticks for one in held)) for item in scheme.items]
    return [row for row in rows if len(set(row.held)) > 1]


def step_differences(sheets: Iterable[MarkSheet]) -> list[StepDifference]:
    """The steps where verdicts differ in type or role; what is harmless to all is left out."""
    held = list(sheets)
    steps = sorted({verdict.step for sheet in held for verdict in sheet.verdicts})
    rows = []
    for step in steps:
        said = tuple(tuple(one for one in sheet.verdicts if one.step == step) for sheet in held)
        kinds = [frozenset((one.fallacy, one.role) for one in verdicts) for verdicts in said]
        is_harmless = all(one.role is Role.HARMLESS for verdicts in said for one in verdicts)
        if len(set(kinds)) > 1 and not is_harmless:
            rows.append(StepDifference(step=step, said=said))
    return rows
