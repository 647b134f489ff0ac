"""The claim and the conditions of a proof as polynomial relations over one ring."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from apps.mathcheck.proving.facts import Bound, Facts
from apps.mathcheck.proving.normal.algebra import Algebra
from apps.mathcheck.proving.normal.forms import NoNormalForm, Quotient, Relation
from apps.mathcheck.proving.signs import sign_steps
from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.sampling import given_by_others
from apps.mathcheck.tex.tree import Node, free_names, number
from apps.mathcheck.tex.written import written

_ORDERED = frozenset(["<", ">", r"\le", r"\ge", "=", r"\ne"])

#: Ranges of numbers that have no normal form.
_CONSTANTS = {
    "pi()": Bound(Fraction("3.14"), True, Fraction("3.15"), True),
    "e()": Bound(Fraction("2.71"), True, Fraction("2.72"), True),
}


@dataclass(frozen=True, slots=True)
class System:
    """`left - right` of the claim as a quotient, and each usable condition as `(polynomial, relation to 0)`."""

    algebra: Algebra
    claim: Quotient
    conditions: tuple[tuple[Any, str], ...]
    bounds: dict[str, Bound]
    #: Names that equations give by others, replaced everywhere.
    given: dict[str, Node]

    @property
    def names(self) -> list[str]:
        return self.algebra.names()

    @property
    def whole(self) -> dict[str, bool]:
        """Whether each generator is a whole number."""
        return {name: self.bounds[name].whole for name in self.names}


def system_of(facts: Facts) -> System:
    """The claim and conditions over one ring. Conditions without a normal form are left out. Raises `NoNormalForm`."""
    equations = [one for one in facts.conditions if one.relation == "=" and one.modulus is None]
    given = {key: value for key, value in given_by_others(equations).items() if free_names(value) and "@" not in key}
    claim = facts.claim.replaced(given)
    usable = [one.replaced(given) for one in facts.conditions if one.modulus is None and one.relation in _ORDERED]
    usable += _ranges_of_given(facts, given)
    for kept in (usable, []):
        algebra = Algebra(facts.domains)
        nodes = [claim.left, claim.right, *(side for one in kept for side in (one.left, one.right))]
        try:
            left, right, *sides = algebra.over(*nodes)
            break
        except NoNormalForm:
            if not kept:
                raise
    difference = _difference(algebra, left, right)
    conditions = [
        (poly, one.relation)
        for one, at in zip(kept, range(0, len(sides), 2), strict=False)
        if (poly := _cleared(algebra, sides[at], sides[at + 1], one.relation)) is not None and poly != 0
    ]
    bounds = {key: _bound(facts, algebra, key) for key in algebra.names()}
    for key in algebra.others():
        if key.startswith("root(") and (relation := algebra.relation(key)) is not None:
            bounds[key] = _of_root(algebra, relation, bounds)
    return System(algebra, difference, tuple(conditions), bounds, given)


def _ranges_of_given(facts: Facts, given: dict[str, Node]) -> list[Condition]:
    """The range of a replaced name as conditions on what replaces it."""
    found = []
    for key, value in given.items():
        bound = facts.bound(key)
        if bound.low is not None:
            found.append(Condition(">" if bound.low_strict else r"\ge", value, number(bound.low)))
        if bound.high is not None:
            found.append(Condition("<" if bound.high_strict else r"\le", value, number(bound.high)))
    return found


def _difference(algebra: Algebra, left: Quotient, right: Quotient) -> Quotient:
    if left.bottom == right.bottom:
        return Quotient(algebra.reduced(left.top - right.top), algebra.reduced(left.bottom))
    top = algebra.reduced(left.top * right.bottom - right.top * left.bottom)
    bottom = algebra.reduced(left.bottom * right.bottom)
    return Quotient(*top.cancel(bottom)) if top != 0 else Quotient(top, bottom)


def _cleared(algebra: Algebra, left: Quotient, right: Quotient, relation: str) -> Any | None:
    """A condition without denominators; multiplied by the square of the denominator if it is an inequality."""
    try:
        found = _difference(algebra, left, right)
        if found.bottom == 1:
            return found.top
        return algebra.reduced(found.top if relation in ("=", r"\ne") else found.top * found.bottom)
    except NoNormalForm:
        return None


def _bound(facts: Facts, algebra: Algebra, key: str) -> Bound:
    if key not in algebra.others():
        return facts.bound(key)
    if key.startswith("abs("):
        return Bound(Fraction(0))
    if key.endswith("!"):
        return Bound(Fraction(1), whole=True)
    base, caret, exponent = key.partition("^")
    if caret and base.isdigit() and exponent in facts.domains:
        known = facts.bound(exponent)
        if known.whole and known.low is not None and known.low >= 0:
            return Bound(Fraction(int(base) ** min(known.start, 64)), whole=True)
    if caret and base.isdigit():
        return Bound(Fraction(0), True)
    if key in _CONSTANTS:
        return _CONSTANTS[key]
    if key.startswith(("exp(", "(e())^")):
        return Bound(Fraction(0), True)
    if key.startswith("ln(") and key[3:-1].isdigit():
        return Bound(Fraction(0), True)
    if key.startswith(("sin(", "cos(")):
        return Bound(Fraction(-1), high=Fraction(1))
    return Bound()


def _of_root(algebra: Algebra, relation: Relation, bounds: dict[str, Bound]) -> Bound:
    """A root is positive if its radicand is, and at least 0 if its degree is even or its radicand is at least 0."""
    for strict in (True, False):
        if sign_steps(relation.value, algebra.names(), bounds, strict) is not None:
            return Bound(Fraction(0), strict)
    return Bound(Fraction(0)) if relation.power % 2 == 0 else Bound()


def shown_given(given: dict[str, Node]) -> tuple[str, ...]:
    """The replacements in words."""
    return tuple(f"with {key} = {written(value)}" for key, value in given.items())
