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
from apps.mathcheck.proving.whole import (
    LARGEST_MODULUS,
    Cleared,
    NotPeriodic,
    Point,
    cleared,
    exponent,
    is_clear,
    minus,
    number_of,
    residue,
    slope,
)
from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.sampling import given_by_others
from apps.mathcheck.testing.work import METER, SYMPY, spend
from apps.mathcheck.tex.tree import Node, free_names, number, walk
from apps.mathcheck.tex.written import related, written

LARGEST_PERIOD, MOST_CASES = 3_000, 30_000
#: A power modulo at most `LARGEST_MODULUS` repeats from this exponent on.
REPEATS_FROM = 11
METHOD = "every residue"


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
        self.given = {key: value for key, value in given.items() if is_clear(value)}
        claim = facts.claim.replaced(self.given)
        self.expression, self.modulus, self.divides = _parts(claim)
        self.conditions = [one.replaced(self.given) for one in facts.conditions]
        self.names = sorted(free_names(self.expression))
        if any(key.startswith("@") or not self._may_be_whole(key) for key in self.names):
            raise NotPeriodic

    def certificate(self) -> Certificate | None:
        """The certificate if the claim holds in every case, and there is a case."""
        claimed = cleared(self.expression)
        filters = [one for condition in self.conditions if (one := self._filter(condition)) is not None]
        total = lcm(self.modulus * claimed.scale, *(one.modulus for one in filters))
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
                if not self._holds(claimed, point):
                    return None
        return self._shown(values, filters, cases) if cases else None

    def _holds(self, claimed: Cleared, point: Point) -> bool:
        value = residue(claimed.whole, point, self.modulus * claimed.scale)
        return value == 0 if self.divides else value != 0 and value % claimed.scale == 0

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
            return all(exponent(one, {**dict.fromkeys(self.names, 4), key: start}) >= 0 for one in self._exponents(key))
        except NotPeriodic:
            return False

    def _values(self, key: str, total: int) -> list[int]:
        """The values to try."""
        bound, exponents, domain = self._bound(key), self._exponents(key), self.facts.domains.get(key)
        start = bound.start if bound.low is not None else 0
        length, first = total, start
        if exponents:
            if start < 0 or any(slope(one, key) <= 0 for one in exponents) or not self._is_defined(key, start):
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
                equal = cleared(minus(condition.left, condition.right))
                return _Filter(1, lambda point, total: residue(equal.whole, point, total) == 0, shown)
            expression, modulus, divides = _parts(condition)
            said = cleared(expression)
        except NotPeriodic:
            return None
        total = modulus * said.scale
        return _Filter(total, lambda point, _: (residue(said.whole, point, total) == 0) is divides, shown)


def _parts(claim: Condition) -> tuple[Node, int, bool]:
    """`(expression, modulus, whether it is divisible)`. Raises `NotPeriodic`."""
    if claim.modulus is not None:
        if claim.relation not in ("=", r"\equiv", r"\ne"):
            raise NotPeriodic
        return minus(claim.left, claim.right), number_of(claim.modulus), claim.relation != r"\ne"
    if claim.relation not in (r"\mid", r"\nmid"):
        raise NotPeriodic
    return claim.right, number_of(claim.left), claim.relation == r"\mid"


def _coprime(node: Node, shown: str) -> _Filter | None:
    try:
        sides = [cleared(part) for part in node.args]
    except NotPeriodic:
        return None
    if any(side.scale != 1 for side in sides):
        return None

    def allows(point: Point, total: int) -> bool:
        return all(any(residue(side.whole, point, prime) for side in sides) for prime in _primes(total))

    return _Filter(1, allows, shown)


@cache
def _primes(value: int) -> tuple[int, ...]:
    return tuple(factorint(value))


def _listed(values: list[int]) -> str:
    if len(values) > 6 and values == list(range(values[0], values[-1] + 1)):
        return f"{values[0]} to {values[-1]}"
    return ", ".join(map(str, values[:8])) + (", …" if len(values) > 8 else "")
