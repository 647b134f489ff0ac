"""Theorems for a proof assistant, independent of its language: typed terms, relations and quantified names."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Sort = Literal["Z", "R"]


class NotExpressible(Exception):
    """The claim has no exact counterpart as a theorem. The message is the reason, for people."""


class NeedsReals(NotExpressible):
    """The expression is not one of whole numbers."""


@dataclass(frozen=True, slots=True)
class Term:
    """One node.

    `op` of both sorts: num (value) · name (value) · add, mul, neg, abs, min, max · pow (of R: value is the exponent; of Z: two
    args). Of Z only: gcd, lcm, quot (division rounded down), factorial, binomial. Of R only: div, cast (of a whole number), pi,
    and functions such as sqrt, exp, ln, sin, cos, atan.
    """

    op: str
    sort: Sort
    args: tuple["Term", ...] = ()
    value: Fraction | int | str = 0


@dataclass(frozen=True, slots=True)
class Relation:
    """A proposition. `sign` is =, <>, <, <=, divides, not divides, prime (left only), or parity (left mod 2 is right)."""

    sign: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Theorem:
    """For all `names` (identifier and sort): the hypotheses imply the conclusion.

    `required` also follows from the hypotheses, and must be proved first: it gives the claim a value for all declared names.
    """

    names: tuple[tuple[str, Sort], ...]
    hypotheses: tuple[Relation, ...]
    conclusion: Relation
    required: tuple[Relation, ...] = ()

    @property
    def sort(self) -> Sort:
        """The sort of both sides of the conclusion."""
        return self.conclusion.left.sort


def number(value: int | Fraction, sort: Sort) -> Term:
    """A literal."""
    return Term("num", sort, value=Fraction(value))


def parts(term: Term) -> Iterator[Term]:
    """The term and all its descendants."""
    yield term
    for one in term.args:
        yield from parts(one)


def replaced(term: Term, name: str, by: Term) -> Term:
    """The term with a name replaced."""
    if term.op == "name" and term.value == name:
        return by
    return Term(term.op, term.sort, tuple(replaced(one, name, by) for one in term.args), term.value)


def folded(function: str, sort: Sort, terms: list[Term]) -> Term:
    """A function of two numbers applied to several."""
    if len(terms) == 1:
        return Term(function, sort, (terms[0],))
    found = terms[0]
    for term in terms[1:]:
        found = Term(function, sort, (found, term))
    return found
