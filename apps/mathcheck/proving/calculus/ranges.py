"""Ranges of one real name whose ends are numbers such as 1 or π/2, and exact signs of numbers."""

from dataclasses import dataclass, replace
from fractions import Fraction

from apps.mathcheck.proving.calculus.derivatives import minus, plus
from apps.mathcheck.proving.exactly import holds_exactly
from apps.mathcheck.proving.facts import TURNED, Facts
from apps.mathcheck.proving.normal.forms import NoNormalForm
from apps.mathcheck.proving.relations import equation
from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.evaluating import constant, value_at
from apps.mathcheck.testing.values import Undefined, interval
from apps.mathcheck.tex.tree import Node, free_names, name, number, substituted
from apps.mathcheck.tex.written import written

#: Ends that are not rational are replaced by multiples of this, further out.
_GRAIN = 2**40


@dataclass(frozen=True, slots=True)
class Range:
    """The values of a name between two ends; None is no end. An open end is not a value."""

    key: str
    low: Node | None = None
    low_open: bool = True
    high: Node | None = None
    high_open: bool = True

    @property
    def inside(self) -> "Range":
        """The range without its ends."""
        return replace(self, low_open=True, high_open=True)

    @property
    def ends(self) -> list[tuple[Node, bool]]:
        """The ends from low to high, each with whether it is open."""
        pairs = ((self.low, self.low_open), (self.high, self.high_open))
        return [(end, is_open) for end, is_open in pairs if end is not None]

    @property
    def shown(self) -> str:
        """The range in words."""
        low = "" if self.low is None else f"{written(self.low)} {'<' if self.low_open else '≤'} "
        high = "" if self.high is None else f" {'<' if self.high_open else '≤'} {written(self.high)}"
        return f"for {low}{self.key}{high}" if low or high else f"for all {self.key}"

    def outer(self) -> tuple[Fraction | None, Fraction | None]:
        """Rational numbers at the ends or beyond them."""
        return _outward(self.low, -1), _outward(self.high, 1)

    def conditions(self) -> tuple[Condition, ...]:
        """The range as conditions with rational numbers, which may be wider."""
        found = []
        for end, rational, is_open, signs in zip(
            (self.low, self.high), self.outer(), (self.low_open, self.high_open), ((">", r"\ge"), ("<", r"\le")), strict=True
        ):
            if end is not None and rational is not None:
                strict = is_open or constant(end) is None
                found.append(Condition(signs[0] if strict else signs[1], name(self.key), number(rational)))
        return tuple(found)


def _outward(end: Node | None, side: int) -> Fraction | None:
    if end is None:
        return None
    exact = constant(end)
    if exact is not None:
        return exact
    found = interval(value_at(end, {}))
    edge = int((found.a if side < 0 else found.b) * _GRAIN)
    return Fraction(edge + 2 * side, _GRAIN)


def sign_of(node: Node) -> int | None:
    """The sign of a number: 1, 0, -1, or None if it is not certain."""
    zero = number(0)
    exact = constant(node)
    if exact is not None:
        return (exact > 0) - (exact < 0)
    for relation, sign in ((">", 1), ("<", -1)):
        if holds_exactly(Condition(relation, node, zero), {}):
            return sign
    try:
        value_at(node, {})
        found = equation(Facts(Condition("=", node, zero), {}, ()))
    except (NoNormalForm, Undefined, ArithmeticError):
        return None
    return 0 if found is not None and not found.where else None


def value_of(node: Node, key: str, place: Node) -> int | None:
    """The sign of an expression at a place."""
    return sign_of(substituted(node, {key: place}))


def range_of(facts: Facts, key: str) -> Range | None:
    """The range of a real name by its domain and the conditions on it alone; None if it may be empty."""
    bound = facts.bound(key)
    found = Range(key)
    if bound.low is not None:
        found = replace(found, low=number(bound.low), low_open=bound.low_strict)
    if bound.high is not None:
        found = replace(found, high=number(bound.high), high_open=bound.high_strict)
    for one in facts.conditions:
        if one.modulus is None and one.names == {key}:
            for side, relation, end in (
                (one.left, one.relation, one.right),
                (one.right, TURNED.get(one.relation, ""), one.left),
            ):
                if side == name(key) and not free_names(end) and constant(end) is None:
                    found = _narrowed(found, relation, end)
    is_empty = found.low is not None and found.high is not None and sign_of(plus(found.high, minus(found.low))) != 1
    return None if is_empty else found


def _narrowed(range_: Range, relation: str, end: Node) -> Range:
    if relation in (">", r"\ge") and (range_.low is None or sign_of(plus(end, minus(range_.low))) == 1):
        return replace(range_, low=end, low_open=relation == ">")
    if relation in ("<", r"\le") and (range_.high is None or sign_of(plus(range_.high, minus(end))) == 1):
        return replace(range_, high=end, high_open=relation == "<")
    return range_
