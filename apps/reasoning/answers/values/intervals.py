"""Values: exact fractions, or intervals as pairs of mpmath's raw numbers. Their signs and sizes."""

import math
from fractions import Fraction
from typing import Any

from mpmath.libmp import from_int, from_rational, mpf_abs, mpf_lt, mpf_sign, round_floor

from apps.reasoning.answers.work import NoValue

Interval = Any
Value = Fraction | Any


def sign_of(value: Value) -> int | None:
    """−1, 0 or 1; None where an interval has 0 inside."""
    if isinstance(value, Fraction):
        return (value > 0) - (value < 0)
    low, high = mpf_sign(value[0]), mpf_sign(value[1])
    return int(low) if low == high else None


def is_below(value: Value, exponent: int) -> bool:
    """Whether the size of the value is surely below 2 to the `exponent`."""
    if isinstance(value, Fraction):
        return abs(value) < Fraction(2) ** exponent
    bound = from_rational(1, 1 << -exponent, 30, round_floor) if exponent < 0 else from_int(1 << exponent)
    return all(bool(mpf_lt(mpf_abs(end), bound)) for end in value)


def exponent_of(number: Any) -> int:
    _, mantissa, exponent, bits = number
    return int(exponent) + int(bits) if mantissa else -(1 << 62)


def log2_of(value: Fraction) -> float:
    return math.log2(value.numerator) - math.log2(value.denominator)


def whole_of(value: Value) -> int:
    if not isinstance(value, Fraction) or value.denominator != 1:
        raise NoValue("a function of whole numbers is given something else")
    if abs(value) > 1 << 64:
        raise NoValue("a number in it is too large to compute")
    return value.numerator
