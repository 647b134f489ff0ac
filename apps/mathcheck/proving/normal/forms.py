"""Fractions of polynomials, the relations that reduce them, and the error for expressions without such a form."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy import factorint

from apps.mathcheck.testing.work import spend

LARGEST_FACTORED = 10**12
Poly = Any
"""An element of a SymPy ring over the rational numbers."""


class NoNormalForm(Exception):
    """The expression has no normal form here."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """`top / bottom`, with `bottom` not the zero polynomial."""

    top: Poly
    bottom: Poly


@dataclass(frozen=True, slots=True)
class Relation:
    """A generator raised to `power` equals `value`."""

    power: int
    value: Poly


def factored(value: Fraction) -> list[tuple[int, int]]:
    """The primes of a positive number with their exponents, negative for the denominator. Raises `NoNormalForm`."""
    if max(value.numerator, value.denominator) > LARGEST_FACTORED:
        raise NoNormalForm("a number too large to be factored")
    spend(50)
    found = list(factorint(value.numerator).items()) if value else []
    return found + [(prime, -times) for prime, times in factorint(value.denominator).items()]


def is_constant(poly: Poly) -> bool:
    """Whether no generator occurs in it."""
    return all(not any(monomial) for monomial in poly.itermonoms())


def constant_of(poly: Poly) -> Fraction:
    """Its constant term."""
    value = poly.coeff(1)
    return Fraction(int(value.numerator), int(value.denominator))
