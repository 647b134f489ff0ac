"""Bounds by which one evaluation decides whether an expression is zero.

Every expression here is a quotient U/L of algebraic integers, or of polynomials with integer coefficients. `upper` and `lower`
bound U and L with all their conjugates, or the sums of the sizes of their coefficients; both obey the same rules.

- A number of degree D that is not zero is at least 1 / (upper^(D−1) · lower). Source: Burnikel, Funke, Mehlhorn, Schirra,
  Schmitt, A Separation Bound for Real Algebraic Expressions, ESA 2001 (BFMSS).
- A polynomial in x₁, …, x_k with coefficients below B in size and degrees below d is zero if its value at x_i = (2B)^(d^(i−1))
  is (Kronecker's substitution).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from apps.reasoning.answers.values.terms import Term
from apps.reasoning.answers.values.values import Evaluator
from apps.reasoning.answers.work import NoValue, Work

_MOST = 1e6


@dataclass(frozen=True)
class Bound:
    """`upper` and `lower` as binary logarithms. `roots` are the irrational parts, each with its degree;
    `degrees` are those of each letter above and below the line."""

    upper: float
    lower: float
    roots: dict[Term, int] = field(default_factory=dict)
    degrees: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def degree(self) -> float:
        return math.prod(float(one) for one in self.roots.values())

    @property
    def bits(self) -> float:
        """A number that is not zero is at least 2 to the −`bits`."""
        return self.lower + (self.degree - 1) * self.upper + 2

    @property
    def size(self) -> float:
        """The bits of the value by Kronecker's substitution."""
        return (max(self.upper, self.lower) + 2) * float(self._most) ** len(self.degrees)

    @property
    def _most(self) -> int:
        return max((max(one) for one in self.degrees.values()), default=0) + 1

    def point(self) -> dict[str, Fraction]:
        """Kronecker's point, with integers."""
        base = math.ceil(max(self.upper, self.lower)) + 2
        return {name: Fraction(1 << base * self._most**place) for place, name in enumerate(sorted(self.degrees))}


def bound_of(term: Term, work: Work, *, letters: bool) -> Bound | None:
    """The bound of an expression of rational numbers, roots and trigonometric values; with `letters`, of a quotient of
    polynomials in its letters, π and e. None where it is neither."""
    try:
        found = _Bounds(work, letters).of(term)
    except (NoValue, OverflowError):
        return None
    return found if max(found.upper, found.lower) < _MOST else None


class _Bounds:
    def __init__(self, work: Work, letters: bool) -> None:
        self.work = work
        self.letters = letters

    def of(self, term: Term) -> Bound:
        self.work.spend(1)
        match term.op:
            case "number":
                return _of_number(Fraction(term.value or 0))
            case "name" | "constant" if self.letters:
                return Bound(0, 0, {}, {str(term.value): (1, 0)})
            case "add":
                return self._folded(term.args, _sum)
            case "mul":
                return self._folded(term.args, _product)
            case "div":
                return _product(self.of(term.args[0]), _inverse(self.of(term.args[1])))
            case "pow":
                return self._power(term)
            case "root" if not self.letters:
                return self._root(term, term.args[0], self._exact(term.args[1]))
            case "abs" if not self.letters:
                return self.of(term.args[0])
            case "sin" | "cos" | "tan" | "cot" if not self.letters:
                return self._trigonometric(term)
            case _:
                return _of_number(self._exact(term))

    def _folded(self, terms: Iterable[Term], rule: Callable[[Bound, Bound], Bound]) -> Bound:
        found: Bound | None = None
        for one in terms:
            found = self.of(one) if found is None else rule(found, self.of(one))
        assert found is not None
        return found

    def _exact(self, term: Term) -> Fraction:
        value = Evaluator({}, 64, self.work).value(term)
        if not isinstance(value, Fraction):
            raise NoValue("it is not an exact number")
        return value

    def _power(self, term: Term) -> Bound:
        base, exponent = term.args[0], self._exact(term.args[1])
        if exponent.denominator != 1:
            if self.letters:
                raise NoValue("it is no quotient of polynomials")
            return _times(self._root(term, base, Fraction(exponent.denominator)), exponent.numerator)
        return _times(self.of(base), exponent.numerator)

    def _root(self, term: Term, base: Term, degree: Fraction) -> Bound:
        if degree.denominator != 1 or not 2 <= degree <= 64:
            raise NoValue("it is not a root of a small degree")
        below, k = self.of(base), degree.numerator
        root = Term("root", (base, Term("number", (), degree)))
        return Bound((below.upper + (k - 1) * below.lower) / k, below.lower, below.roots | {root: k})

    def _trigonometric(self, term: Term) -> Bound:
        """Of an angle that is a fraction p/q of π: 2cos and 2sin are algebraic integers of a field of degree at most 4q."""
        angle = term.args[0]
        turns = replaced_pi(angle)
        bottom = self._exact(turns).denominator
        if bottom > 64:
            raise NoValue("it is an angle of a large denominator")
        root = Term("angle", (), Fraction(bottom))
        return Bound(1, 1, {root: 4 * bottom})


def replaced_pi(term: Term) -> Term:
    """An angle as a multiple of π: π is 1 and a degree 1/180. Raises `NoValue` where π is not a factor."""
    match term.op:
        case "constant" if term.value == "π":
            return Term("number", (), Fraction(1))
        case "degrees":
            return Term("div", (term.args[0], Term("number", (), Fraction(180))))
        case "mul":
            parts = list(term.args)
            for place, one in enumerate(parts):
                try:
                    parts[place] = replaced_pi(one)
                except NoValue:
                    continue
                return Term("mul", tuple(parts))
        case "div":
            return Term("div", (replaced_pi(term.args[0]), term.args[1]))
        case "add":
            return Term("add", tuple(replaced_pi(one) for one in term.args))
        case "number" if not term.value:
            return term
    raise NoValue("it is not a multiple of π")


def _of_number(value: Fraction) -> Bound:
    return Bound(_log2(abs(value.numerator)), _log2(value.denominator))


def _log2(value: int) -> float:
    return math.log2(value) + 1e-9 if value > 1 else 0.0


def _sum(one: Bound, two: Bound) -> Bound:
    upper = max(one.upper + two.lower, two.upper + one.lower) + 1
    degrees = {}
    for name, (above, below), (other_above, other_below) in _degrees(one, two):
        degrees[name] = (max(above + other_below, other_above + below), below + other_below)
    return Bound(upper, one.lower + two.lower, one.roots | two.roots, degrees)


def _product(one: Bound, two: Bound) -> Bound:
    degrees = {name: (first[0] + second[0], first[1] + second[1]) for name, first, second in _degrees(one, two)}
    return Bound(one.upper + two.upper, one.lower + two.lower, one.roots | two.roots, degrees)


def _degrees(one: Bound, two: Bound) -> Iterable[tuple[str, tuple[int, int], tuple[int, int]]]:
    return ((name, one.degrees.get(name, (0, 0)), two.degrees.get(name, (0, 0))) for name in {**one.degrees, **two.degrees})


def _inverse(one: Bound) -> Bound:
    turned = {name: (below, above) for name, (above, below) in one.degrees.items()}
    return Bound(one.lower, one.upper, one.roots, turned)


def _times(one: Bound, exponent: int) -> Bound:
    size = abs(exponent)
    degrees = {name: (above * size, below * size) for name, (above, below) in one.degrees.items()}
    found = Bound(one.upper * size, one.lower * size, one.roots, degrees)
    return _inverse(found) if exponent < 0 else found
