"""Congruences and divisibility by a number: every residue is tried.

A polynomial with whole coefficients, and a power with a name in its exponent, repeat modulo M after a while. So it is enough to
try each name from its first value to the end of one full period. Conditions that are congruences, divisibilities, equations or
coprimality of whole numbers leave out residues that cannot occur.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import gcd, lcm, prod

from sympy import factorint, reduced_totient

from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Bound, Facts
from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.sampling import given_by_others
from apps.mathcheck.testing.values import Undefined, integer
from apps.mathcheck.testing.work import METER, SYMPY, spend
from apps.mathcheck.tex.tree import Node, free_names, number, walk
from apps.mathcheck.tex.written import related, written

LARGEST_MODULUS, LARGEST_PERIOD, MOST_CASES = 2_000, 3_000, 30_000
#: A power modulo at most `LARGEST_MODULUS` repeats from this exponent on.
REPEATS_FROM = 11
METHOD = "every residue"
Point = Mapping[str, int]


class NotPeriodic(Exception):
    """The expression is not of the shape that repeats, or its period is too long."""


@dataclass(frozen=True, slots=True)
class _Cleared:
    """An expression as `whole / scale`, where `whole` has whole numbers only."""

    whole: Node
    scale: int


@dataclass(frozen=True, slots=True)
class _Filter:
    """A condition as a test of residues modulo a number that `modulus` divides."""

    modulus: int
    allows: Callable[[Point, int], bool]
    shown: str


def congruence(facts: Facts) -> Certificate | None:
    r"""`≡`, `\mid` and `\nmid` with a number as modulus or divisor."""
    try:
        return _Residues(facts).certificate()
    except NotPeriodic:
        return None


class _Residues:
    """One claim with the conditions that are usable."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        equations = [one for one in facts.conditions if one.relation == "=" and one.modulus is None]
        given = {key: value for key, value in given_by_others(equations).items() if free_names(value)}
        self.given = {key: value for key, value in given.items() if _is_clear(value)}
        claim = facts.claim.replaced(self.given)
        self.expression, self.modulus, self.divides = _parts(claim)
        self.conditions = [one.replaced(self.given) for one in facts.conditions]
        self.names = sorted(free_names(self.expression))
        if any(key.startswith("@") or not self._may_be_whole(key) for key in self.names):
            raise NotPeriodic

    def certificate(self) -> Certificate | None:
        """The certificate if the claim holds in every case, and there is a case."""
        cleared = _cleared(self.expression)
        filters = [one for condition in self.conditions if (one := self._filter(condition)) is not None]
        total = lcm(self.modulus * cleared.scale, *(one.modulus for one in filters))
        if total > LARGEST_MODULUS:
            raise NotPeriodic
        values = {key: self._values(key, total) for key in self.names}
        if prod(map(len, values.values())) > MOST_CASES:
            raise NotPeriodic
        spend(4 * prod(map(len, values.values())))
        cases = 0
        for chosen in product(*values.values()):
            point = dict(zip(self.names, chosen, strict=True))
            if all(one.allows(point, total) for one in filters):
                cases += 1
                if not self._holds(cleared, point):
                    return None
        return self._shown(values, filters, cases) if cases else None

    def _holds(self, cleared: _Cleared, point: Point) -> bool:
        value = _residue(cleared.whole, point, self.modulus * cleared.scale)
        return value == 0 if self.divides else value != 0 and value % cleared.scale == 0

    def _shown(self, values: Mapping[str, list[int]], filters: list[_Filter], cases: int) -> Certificate:
        tried = ", ".join(f"{key} = {_listed(found)}" for key, found in values.items())
        step = f"the values modulo {self.modulus} repeat, so that it is enough to compute them for {tried}: {cases} cases"
        assumptions = tuple(f"{key} {self._kind(key)}" for key in self.names)
        given = tuple(f"{key} = {value}" for key, value in self._written_given())
        return Certificate(METHOD, (step,), (*assumptions, *given, *(one.shown for one in filters)))

    def _written_given(self) -> list[tuple[str, str]]:
        used = self.facts.claim.names
        return [(key, written(value)) for key, value in self.given.items() if key in used]

    def _may_be_whole(self, key: str) -> bool:
        domain = self.facts.domains.get(key)
        return domain is None or not domain.declared or domain.kind == "integer"

    def _kind(self, key: str) -> str:
        domain, bound = self.facts.domains.get(key), self._bound(key)
        kind = "prime" if domain is not None and domain.prime else "whole"
        parity = {0: "even ", 1: "odd "}.get(domain.parity, "") if domain is not None and domain.parity is not None else ""
        least = f", at least {bound.start}" if bound.low is not None else ""
        return f"{parity}{kind}{least}"

    def _bound(self, key: str) -> Bound:
        """The range of a name; in exponents, an undeclared name starts where no exponent is negative."""
        bound = self.facts.bound(key)
        if bound.low is None and self._exponents(key):
            domain = self.facts.domains.get(key)
            if domain is not None and domain.declared:
                raise NotPeriodic
            return Bound(Fraction(next((start for start in range(4) if self._is_defined(key, start)), 0)), whole=True)
        return bound

    def _exponents(self, key: str) -> list[Node]:
        powers = [part.args[1] for part in walk(self.expression) if part.op == "pow" and part.args[1].op != "num"]
        return [one for one in powers if key in free_names(one)]

    def _is_defined(self, key: str, start: int) -> bool:
        try:
            return all(_exponent(one, {**dict.fromkeys(self.names, 4), key: start}) >= 0 for one in self._exponents(key))
        except NotPeriodic:
            return False

    def _values(self, key: str, total: int) -> list[int]:
        """The values to try."""
        bound, exponents, domain = self._bound(key), self._exponents(key), self.facts.domains.get(key)
        start = bound.start if bound.low is not None else 0
        length, first = total, start
        if exponents:
            if start < 0 or any(_slope(one, key) <= 0 for one in exponents) or not self._is_defined(key, start):
                raise NotPeriodic
            METER.spent += SYMPY // 8
            length, first = lcm(total, int(reduced_totient(total))), start + REPEATS_FROM
        elif bound.low is None and bound.high is not None:
            first = start = 0
        if length > LARGEST_PERIOD:
            raise NotPeriodic
        values = list(range(start, first + length))
        if domain is not None and domain.parity is not None:
            if length % 2:
                values = list(range(start, first + 2 * length))
            values = [value for value in values if value % 2 == domain.parity]
        if domain is not None and domain.prime:
            primes = [
                prime for prime in _primes(total) if prime >= start and (domain.parity is None or prime % 2 == domain.parity)
            ]
            values = sorted({*primes, *(value for value in values if gcd(value, total) == 1)})
        return values

    def _filter(self, condition: Condition) -> _Filter | None:
        """The condition as a filter; None if it is none."""
        shown = related(condition.left, condition.relation, condition.right, condition.modulus)
        if not condition.names or not condition.names <= set(self.names):
            return None
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if one.op == "fn" and one.value == "gcd" and other == number(1) and condition.relation == "=":
                return _coprime(one, shown)
        try:
            if condition.relation == "=" and condition.modulus is None:
                cleared = _cleared(_minus(condition.left, condition.right))
                return _Filter(1, lambda point, total: _residue(cleared.whole, point, total) == 0, shown)
            expression, modulus, divides = _parts(condition)
            cleared = _cleared(expression)
        except NotPeriodic:
            return None
        whole = modulus * cleared.scale
        return _Filter(whole, lambda point, _: (_residue(cleared.whole, point, whole) == 0) is divides, shown)


def _parts(claim: Condition) -> tuple[Node, int, bool]:
    """`(expression, modulus, whether it is divisible)`. Raises `NotPeriodic`."""
    if claim.modulus is not None:
        if claim.relation not in ("=", r"\equiv", r"\ne"):
            raise NotPeriodic
        return _minus(claim.left, claim.right), _number(claim.modulus), claim.relation != r"\ne"
    if claim.relation not in (r"\mid", r"\nmid"):
        raise NotPeriodic
    return claim.right, _number(claim.left), claim.relation == r"\mid"


def _minus(left: Node, right: Node) -> Node:
    return left if right == number(0) else Node("add", (left, Node("neg", (right,))))


def _number(node: Node) -> int:
    if free_names(node):
        raise NotPeriodic
    try:
        value = abs(integer(value_at(node, {})))
    except (Undefined, ArithmeticError):
        raise NotPeriodic from None
    if not 1 <= value <= LARGEST_MODULUS:
        raise NotPeriodic
    return value


def _is_clear(node: Node) -> bool:
    try:
        return _cleared(node).scale == 1
    except NotPeriodic:
        return False


def _cleared(node: Node) -> _Cleared:
    """The expression without fractions. Raises `NotPeriodic`."""
    if node.op == "name":
        return _Cleared(node, 1)
    if node.op == "num":
        value = Fraction(node.value or 0)
        return _Cleared(number(value.numerator), value.denominator)
    if node.op == "div":
        top, divisor = _cleared(node.args[0]), _number(node.args[1])
        sign = 1 if value_at(node.args[1], {}) > 0 else -1
        return _Cleared(top.whole if sign > 0 else Node("neg", (top.whole,)), top.scale * divisor)
    if node.op == "pow":
        base, exponent = _cleared(node.args[0]), node.args[1]
        if exponent.op == "num":
            times = Fraction(exponent.value or 0)
            if times.denominator != 1 or not 0 <= times <= 200:
                raise NotPeriodic
            return _Cleared(Node("pow", (base.whole, exponent)), base.scale ** int(times))
        if base.scale != 1 or not all(part.op in ("name", "num", "add", "mul", "neg") for part in walk(exponent)):
            raise NotPeriodic
        return _Cleared(Node("pow", (base.whole, exponent)), 1)
    parts = [_cleared(part) for part in node.args]
    if node.op == "neg":
        return _Cleared(Node("neg", (parts[0].whole,)), parts[0].scale)
    if node.op == "mul":
        return _Cleared(Node("mul", tuple(part.whole for part in parts)), prod(part.scale for part in parts))
    if node.op == "add":
        scale = lcm(*(part.scale for part in parts))
        raised = (Node("mul", (number(scale // part.scale), part.whole)) for part in parts)
        return _Cleared(Node("add", tuple(raised)), scale)
    raise NotPeriodic


def _residue(node: Node, point: Point, modulus: int) -> int:
    """The value of a cleared expression modulo a number."""
    if node.op == "num":
        return int(Fraction(node.value or 0)) % modulus
    if node.op == "name":
        return point[str(node.value)] % modulus
    if node.op == "pow":
        return pow(_residue(node.args[0], point, modulus), _exponent(node.args[1], point), modulus)
    values = [_residue(part, point, modulus) for part in node.args]
    if node.op == "neg":
        return -values[0] % modulus
    return (sum(values) if node.op == "add" else prod(values)) % modulus


def _exponent(node: Node, point: Point) -> int:
    """The whole value of an exponent, at least 0. Raises `NotPeriodic`."""
    try:
        value = integer(value_at(node, {key: Fraction(value) for key, value in point.items()}))
    except (Undefined, ArithmeticError):
        raise NotPeriodic from None
    if value < 0:
        raise NotPeriodic
    return value


def _slope(node: Node, key: str) -> int:
    """The constant by which a linear exponent grows with a name. Raises `NotPeriodic` if it is not linear or falls."""
    if not _is_linear(node):
        raise NotPeriodic
    point = dict.fromkeys(free_names(node), 20)
    return _exponent(node, {**point, key: 21}) - _exponent(node, point)


def _is_linear(node: Node) -> bool:
    if node.op == "mul" and sum(bool(free_names(part)) for part in node.args) > 1:
        return False
    return all(_is_linear(part) for part in node.args)


def _coprime(node: Node, shown: str) -> _Filter | None:
    try:
        sides = [_cleared(part) for part in node.args]
    except NotPeriodic:
        return None
    if any(side.scale != 1 for side in sides):
        return None

    def allows(point: Point, total: int) -> bool:
        return all(any(_residue(side.whole, point, prime) for side in sides) for prime in _primes(total))

    return _Filter(1, allows, shown)


@cache
def _primes(value: int) -> tuple[int, ...]:
    return tuple(factorint(value))


def _listed(values: list[int]) -> str:
    if len(values) > 6 and values == list(range(values[0], values[-1] + 1)):
        return f"{values[0]} to {values[-1]}"
    return ", ".join(map(str, values[:8])) + (", …" if len(values) > 8 else "")
