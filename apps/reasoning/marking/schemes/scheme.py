"""The parts of a marking scheme. docs/marking_schemes.md explains each part to coaches.

Points are `Decimal` with at most two places and nothing here rounds them.
"""

import re
import unicodedata
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from apps.reasoning.domain.values import Value

ITEMS_AT_MOST = 200
CHAINS_AT_MOST = 20
TEXT_LENGTH = 4_000
LINE_LENGTH = 300
POINTS_AT_MOST = Decimal(1000)
RESERVED_CODES = {"mix"}

_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,15}")
_NAME = re.compile(r"[A-Za-z0-9_]{1,16}")
_LINE_ENDS = re.compile(r"\r\n?")


class Kind(StrEnum):
    """What ticking an item does."""

    CHECKPOINT = "checkpoint"  # earns points
    ZERO_CREDIT = "zero-credit"  # recognised, worth nothing, and says so
    DEDUCTION = "deduction"  # takes points off the total
    CAP = "cap"  # limits the total while its condition holds
    FEEDBACK = "feedback"  # a remark for the student; no points


#: Kinds whose items may be in groups, exclude each other, need others and be needed.
EARNING = frozenset({Kind.CHECKPOINT, Kind.ZERO_CREDIT})


def lines_clean(text: str) -> list[str]:
    """The lines of a text, whatever ends them, without control characters and without white space at their ends."""
    text = _LINE_ENDS.sub("\n", text)
    text = "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cs"})
    return [line.rstrip() for line in text.split("\n")]


def text_clean(text: str) -> str:
    """`lines_clean` as one text, without white space around it."""
    return "\n".join(lines_clean(text)).strip()


def line_clean(text: str) -> str:
    """One line: every run of white space is one space."""
    return " ".join(text_clean(text).split())


def points_plain(points: Decimal) -> Decimal:
    """The same number in its shortest form: 2.50 → 2.5, 20 stays 20. Raises `ValueError` where it has more than two places."""
    if not points.is_finite() or points != round(points, 2):
        raise ValueError("points have at most two decimal places")
    whole = points.to_integral_value()
    return whole.quantize(Decimal(1)) if points == whole else points.normalize()


def points_words(points: Decimal) -> str:
    """Points with their noun: "1 point", "2.5 points"."""
    return f"{points_text(points)} point{'' if points == 1 else 's'}"


def points_text(points: Decimal) -> str:
    """How points are written: 2, 2.5, never 2.0."""
    return str(points_plain(points))


def code_checked(code: str) -> str:
    """The code. Raises `ValueError`."""
    if not _CODE.fullmatch(code):
        raise ValueError("a code is a letter and then letters, digits or _, 16 at most")
    return code


def name_checked(name: str) -> str:
    """The name of a chain or group. Raises `ValueError`."""
    if not _NAME.fullmatch(name):
        raise ValueError("a name is letters, digits or _, 16 at most")
    return name


Text = Annotated[str, BeforeValidator(lambda value: text_clean(value) if isinstance(value, str) else value)]
Line = Annotated[str, BeforeValidator(lambda value: line_clean(value) if isinstance(value, str) else value)]
Points = Annotated[Decimal, Field(ge=0, le=POINTS_AT_MOST), AfterValidator(points_plain)]
Code = Annotated[str, AfterValidator(code_checked)]
Name = Annotated[str, AfterValidator(name_checked)]


class Chain(Value):
    """An alternative route. The best chain counts; `limit` is the most that this one can be worth."""

    name: Name
    title: Annotated[Line, Field(max_length=LINE_LENGTH)] = ""
    limit: Points | None = None


class SchemeItem(Value):
    """One line of a scheme.

    `points`: what a checkpoint earns, what a deduction takes, the limit of a cap; 0 for the other kinds.
    `chains`: the chains it belongs to; none means all. `group`: of a group at most one item counts, the largest.
    `requires`: codes that must be ticked too. `excludes`: codes that do not count together with it; the larger is awarded.
    `text` is written to the student, `note` to markers. `lineage` is the item's identity across versions, empty before it has
    one.
    """

    code: Code
    kind: Kind = Kind.CHECKPOINT
    points: Points = Decimal(0)
    text: Annotated[Text, Field(max_length=TEXT_LENGTH)] = ""
    note: Annotated[Text, Field(max_length=TEXT_LENGTH)] = ""
    chains: tuple[Name, ...] = ()
    group: Annotated[str, AfterValidator(lambda group: group and name_checked(group))] = ""
    requires: tuple[Code, ...] = ()
    excludes: tuple[Code, ...] = ()
    lineage: Annotated[str, Field(max_length=36)] = ""


class Scheme(Value):
    """A whole marking scheme.

    `scale`: the most a paper can get. `step`: points are multiples of it. `mixing`: why the points of several chains may be
    added where a marker declares a mixed case; empty where they may not. `remarks`: to markers, about the whole.
    """

    scale: Annotated[Points, Field(gt=0)] = Decimal(7)
    step: Annotated[Points, Field(gt=0)] = Decimal(1)
    mixing: Annotated[Line, Field(max_length=LINE_LENGTH)] = ""
    remarks: Annotated[Text, Field(max_length=TEXT_LENGTH)] = ""
    chains: Annotated[tuple[Chain, ...], Field(max_length=CHAINS_AT_MOST)] = ()
    items: Annotated[tuple[SchemeItem, ...], Field(max_length=ITEMS_AT_MOST)] = ()

    def of_kind(self, kind: Kind) -> tuple[SchemeItem, ...]:
        """The items of one kind, in the scheme's order."""
        return tuple(item for item in self.items if item.kind is kind)
