"""Looks for a rational certificate of a sum with hypergeometric terms: Gosper's and Zeilberger's algorithms.

For a term F(n, k) it finds polynomials a_0, …, a_J without k and a rational C with
a_0 F(n, k) + … + a_J F(n + J, k) = G(k + 1) - G(k), where G = C·F. With J = 0 that is Gosper's algorithm. What it finds is only
a proposal: `hypergeometric` expands both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy import QQ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.polyerrors import PolynomialError

from apps.mathcheck.testing.work import METER, SYMPY, spend
from apps.mathcheck.tex.tree import Node, name, number

MOST_SHIFT, HIGHEST_DEGREE, MOST_TERMS, MOST_NAMES = 30, 10, 200, 4
Poly = Any


@dataclass(frozen=True, slots=True)
class Telescoped:
    """`sum(shifts[j] * F(n + j, k)) = G(k + 1) - G(k)` with `G = factor * F`."""

    shifts: tuple[Node, ...]
    factor: Node


def telescoped(ratio: tuple[Poly, Poly], shifts: Sequence[tuple[Poly, Poly]]) -> Telescoped | None:
    """Search a certificate. `ratio` is F(n, k + 1) / F(n, k), `shifts` has F(n + j, k) / F(n, k) for j = 0, 1, …

    All are fractions of polynomials over one ring, whose first name is k.
    """
    ring = ratio[0].ring
    if ring.ngens > MOST_NAMES or any(len(poly) > MOST_TERMS for pair in (ratio, *shifts) for poly in pair):
        return None
    METER.spent += SYMPY
    try:
        return _search(ring, ratio, shifts)
    except (PolynomialError, ArithmeticError, ValueError, NotImplementedError):
        return None


def _search(ring: Any, ratio: tuple[Poly, Poly], shifts: Sequence[tuple[Poly, Poly]]) -> Telescoped | None:
    common = ring.one
    for _, bottom in shifts:
        common = common.lcm(bottom)
    tops = [top * common.exquo(bottom) for top, bottom in shifts]
    top, bottom = (ratio[0] * common).cancel(ratio[1] * _moved(common, 1))
    shape = _normal(top, bottom)
    if shape is None:
        return None
    rising, falling, rest = shape
    before = _moved(falling, -1)
    wanted = [rest * one for one in tops]
    most = _degree_bound(rising, before, max(one.degree(0) for one in wanted))
    if most is None:
        return None
    solution = _solved(ring, rising, before, wanted, most)
    if solution is None:
        return None
    polynomial, factors = solution
    found = before * polynomial
    top, bottom = found.cancel(rest * common)
    factor = over(node_of(top), node_of(bottom))
    return Telescoped(tuple(node_of(one) for one in factors), factor)


def _moved(poly: Poly, step: int) -> Poly:
    spend(10 * len(poly))
    k = poly.ring.gens[0]
    return poly.compose(k, k + step)


def _normal(top: Poly, bottom: Poly) -> tuple[Poly, Poly, Poly] | None:
    """A, B, C with `top/bottom = A(k)/B(k) * C(k+1)/C(k)`, where A(k) and B(k + h) are coprime for all h ≥ 0."""
    rest, pairs = top.ring.one, list[tuple[int, Poly, int]]()
    for one, times in top.factor_list()[1]:
        for other, more in bottom.factor_list()[1]:
            shift = _distance(one, other)
            if shift is not None and shift > MOST_SHIFT:
                return None
            if shift is not None:
                pairs.append((shift, one, min(times, more)))
    for shift, one, times in sorted(pairs, key=lambda pair: pair[0]):
        for _ in range(times):
            moved = _moved(one, -shift)
            if top.rem(one) != 0 or bottom.rem(moved) != 0:
                break
            top, bottom = top.exquo(one), bottom.exquo(moved)
            for step in range(1, shift + 1):
                rest *= _moved(one, -step)
    return top, bottom, rest


def _distance(one: Poly, other: Poly) -> int | None:
    """The whole h ≥ 0 for which `other(k + h)` is `one(k)`, apart from a number."""
    degree = one.degree(0)
    if degree < 1 or other.degree(0) != degree:
        return None
    (first, second), (third, fourth) = ([_coefficient(poly, at) for at in (degree, degree - 1)] for poly in (one, other))
    shift, rest = (second * third - fourth * first).div(degree * first * third)
    value = shift.coeff(1)
    if rest != 0 or shift != value or value.denominator != 1 or value < 0:
        return None
    if value > MOST_SHIFT:
        return int(value)
    return int(value) if _moved(other, int(value)) * first == one * third else None


def _coefficient(poly: Poly, degree: int) -> Poly:
    """The coefficient of k^degree, without k."""
    return poly.ring.from_dict({(0, *monomial[1:]): value for monomial, value in poly.iterterms() if monomial[0] == degree})


def _degree_bound(rising: Poly, before: Poly, wanted: int) -> int | None:
    """The most degree of a polynomial x with `rising * x(k + 1) - before * x(k)` of the degree that is wanted."""
    up, down = rising.degree(0), before.degree(0)
    leading = _coefficient(rising, up)
    if up != down or leading != _coefficient(before, down):
        most = wanted - max(up, down)
    else:
        most = wanted - up + 1
        slope, rest = (_coefficient(before, up - 1) - _coefficient(rising, up - 1)).div(leading)
        value = slope.coeff(1)
        if up and rest == 0 and slope == value and value.denominator == 1:
            most = max(most, int(value))
    return most if 0 <= most <= HIGHEST_DEGREE else None


def _solved(ring: Any, rising: Poly, before: Poly, wanted: Sequence[Poly], most: int) -> tuple[Poly, list[Poly]] | None:
    """x and a_j with `rising * x(k + 1) - before * x(k) = sum(a_j * wanted_j)`."""
    k = ring.gens[0]
    columns = [rising * (k + 1) ** power - before * k**power for power in range(most + 1)] + [-one for one in wanted]
    rows = 1 + max(one.degree(0) for one in columns if one != 0)
    spend(40 * rows * len(columns) ** 2)
    field = QQ.frac_field(*ring.symbols[1:]) if ring.ngens > 1 else QQ
    table = [[_in_field(_coefficient(one, row), field) for one in columns] for row in range(rows)]
    for vector in DomainMatrix(table, (rows, len(columns)), field).nullspace().to_list():
        if not any(vector[most + 1 :]):
            continue
        cleared = _cleared(ring, vector)
        polynomial = ring.zero
        for power, one in enumerate(cleared[: most + 1]):
            polynomial += one * k**power
        return polynomial, cleared[most + 1 :]
    return None


def _in_field(poly: Poly, field: Any) -> Any:
    if field == QQ:
        return poly.coeff(1)
    return field(field.field.ring.from_dict({monomial[1:]: value for monomial, value in poly.iterterms()}))


def _cleared(ring: Any, vector: Sequence[Any]) -> list[Poly]:
    """The entries over the ring, multiplied by their common denominator."""
    if ring.ngens == 1:
        return [ring(value) for value in vector]
    back = [
        tuple(
            ring.from_dict({(0, *monomial): value for monomial, value in part.iterterms()}) for part in (one.numer, one.denom)
        )
        for one in vector
    ]
    common = ring.one
    for _, bottom in back:
        common = common.lcm(bottom)
    return [top * common.exquo(bottom) for top, bottom in back]


def node_of(poly: Poly) -> Node:
    """A polynomial as an expression."""
    terms = [
        _term_of(poly.ring.symbols, monomial, Fraction(int(value.numerator), int(value.denominator)))
        for monomial, value in poly.terms()
    ]
    if not terms:
        return number(0)
    return terms[0] if len(terms) == 1 else Node("add", tuple(terms))


def _term_of(symbols: Sequence[Any], monomial: Sequence[int], value: Fraction) -> Node:
    powers = [(name(str(key)), number(power)) for key, power in zip(symbols, monomial, strict=True) if power]
    factors = [base if power == number(1) else Node("pow", (base, power)) for base, power in powers]
    if abs(value) != 1 or not factors:
        factors.insert(0, number(abs(value)))
    product = factors[0] if len(factors) == 1 else Node("mul", tuple(factors))
    return product if value > 0 else Node("neg", (product,))


def over(top: Node, bottom: Node) -> Node:
    """The fraction, without a bottom of 1."""
    return top if bottom == number(1) else Node("div", (top, bottom))
