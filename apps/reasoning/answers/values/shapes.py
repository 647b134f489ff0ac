"""What an answer can be: a number or expression, a set, a tuple, a region of the line, a named class, an equation, words."""

from dataclasses import dataclass, field
from typing import Literal, Union

from apps.reasoning.answers.values.terms import Term, names, replaced

Sign = Literal["", "positive", "nonnegative", "negative"]


@dataclass(frozen=True)
class Scalar:
    """An expression, with the unit written after it: its dimension and factor, or a word that is not known as one."""

    term: Term
    unit: str = ""


@dataclass(frozen=True)
class Many:
    """A set, however it was written; in braces it may be a member of another. Without items: there is none."""

    items: tuple["Shape", ...]
    is_braced: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Run:
    """`first, second, …, last` with equal steps; without `last` it does not end."""

    first: Term
    step: Term
    last: Term | None


@dataclass(frozen=True)
class Ordered:
    """A tuple. Two entries in round brackets may be an open interval as well."""

    items: tuple["Shape", ...]


@dataclass(frozen=True)
class Piece:
    """An interval; an end that is None is infinite."""

    low: Term | None
    high: Term | None
    has_low: bool
    has_high: bool


@dataclass(frozen=True)
class Region:
    """A union of intervals. `by_relation`: written with < or ≤, so whether of real or whole numbers is open."""

    pieces: tuple[Piece, ...]
    by_relation: bool = False


@dataclass(frozen=True)
class Named:
    """`name = value`, or `name(args) = value`."""

    name: str
    args: tuple[str, ...]
    value: "Shape"


@dataclass(frozen=True)
class Assigned:
    """Several names with a value each, in the order written."""

    pairs: tuple[tuple[str, "Shape"], ...]


@dataclass(frozen=True)
class Class:
    """A class of numbers by its name, such as the odd ones."""

    base: str
    sign: Sign


@dataclass(frozen=True)
class Equation:
    """`left = right` with an expression on the left; `left` and `right` differ by `term`."""

    term: Term


@dataclass(frozen=True)
class Approximate:
    """A number that was written as rounded (≈)."""

    term: Term
    digits: int


@dataclass(frozen=True)
class Conditioned:
    """A value under a condition in words or signs, which is compared as a text."""

    value: "Shape"
    condition: str


@dataclass(frozen=True)
class Words:
    """What is not read: its text in normal form, and why."""

    text: str
    why: str


Shape = Union[  # noqa: UP007
    Scalar, Many, Run, Ordered, Region, Named, Assigned, Class, Equation, Approximate, Conditioned, Words
]


def letters_of(shape: Shape) -> frozenset[str]:
    """The letters of a shape that are neither names of what is given nor arguments."""
    match shape:
        case Scalar(term=term) | Equation(term=term) | Approximate(term=term):
            return names(term)
        case Many(items=items) | Ordered(items=items):
            return frozenset().union(*(letters_of(one) for one in items))
        case Named(args=args, value=value):
            return letters_of(value) - set(args)
        case Conditioned(value=value):
            return letters_of(value)
        case Assigned(pairs=pairs):
            return frozenset().union(*(letters_of(value) for _, value in pairs))
        case Region(pieces=pieces):
            return frozenset().union(*(names(end) for one in pieces for end in (one.low, one.high) if end is not None))
        case Run(first=first, last=last):
            return names(first) | (names(last) if last else frozenset())
    return frozenset()


def renamed(shape: Shape, letters: dict[str, str]) -> Shape:
    """The shape with other letters; of what can be the value of a function."""
    terms = {old: Term("name", (), new) for old, new in letters.items()}
    match shape:
        case Scalar(term=term, unit=unit):
            return Scalar(replaced(term, terms), unit)
        case Many(items=items):
            return Many(tuple(renamed(one, letters) for one in items))
        case Ordered(items=items):
            return Ordered(tuple(renamed(one, letters) for one in items))
    return shape
