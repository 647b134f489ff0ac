"""Numbers as exact fractions where possible, else as intervals that contain the real value, and arithmetic on them.

A comparison that the intervals do not decide is None: values that are close are neither equal nor a counterexample.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath import iv, mp

from apps.mathcheck.testing.work import BITS_PER_OPERATION, INTERVAL, METER, spend

Value = Fraction | Any
BITS = 20_000
#: Most bits of a number for which an exact root of degree 3 or higher is computed.
LONGEST_ROOT = 2_000
PRECISION = 200
iv.prec = PRECISION


class Undefined(Exception):
    """The expression has no real value at the point, or none that can be computed within bounds."""


def holds(relation: str, left: Value, right: Value) -> bool | None:
    """Whether `left relation right`; None if the precision does not decide it. Overlapping narrow intervals count as equal."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return EXACT[relation](left, right)
    difference = interval(left) - interval(right)
    low, high = difference.a, difference.b
    if high < 0 or low > 0:
        below = bool(high < 0)
        return {"=": False, r"\ne": True, "<": below, r"\le": below, ">": not below, r"\ge": not below}[relation]
    size = abs(interval(left)).b + 1
    near = bool(high - low < size * mp.mpf(2) ** (20 - PRECISION // 2))
    return True if near and relation in ("=", r"\le", r"\ge") else None


EXACT: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "=": lambda a, b: a == b,
    r"\ne": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    r"\le": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    r"\ge": lambda a, b: a >= b,
}


def interval(value: Value) -> Any:
    """The number as an interval."""
    METER.spent += INTERVAL
    return iv.mpf(value.numerator) / iv.mpf(value.denominator) if isinstance(value, Fraction) else value


def integer(value: Value) -> int:
    """An exact integer; raises Undefined."""
    if not isinstance(value, Fraction) or value.denominator != 1:
        raise Undefined("not an integer")
    return value.numerator


def plus(one: Value, two: Value) -> Value:
    """The sum."""
    if isinstance(one, Fraction) and isinstance(two, Fraction):
        return one + two
    return interval(one) + interval(two)


def times(one: Value, two: Value) -> Value:
    """The product, within bounds."""
    if isinstance(one, Fraction) and isinstance(two, Fraction):
        bits = one.numerator.bit_length() + two.numerator.bit_length()
        if bits > 4 * BITS:
            raise Undefined("too large")
        if bits > BITS_PER_OPERATION:
            spend(bits // BITS_PER_OPERATION)
        return one * two
    if one == 0 or two == 0:
        return Fraction(0)
    return interval(one) * interval(two)


def divided(top: Value, bottom: Value) -> Value:
    """The quotient; raises Undefined at zero."""
    if isinstance(bottom, Fraction):
        if bottom == 0:
            raise Undefined("division by zero")
        return top / bottom if isinstance(top, Fraction) else top / interval(bottom)
    if 0 in bottom:
        raise Undefined("division by zero")
    return interval(top) / bottom


def power(base: Value, exponent: Value) -> Value:
    """base ** exponent over the reals; 0^0 and fractional powers of negative numbers are Undefined."""
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        return _integer_power(base, exponent.numerator)
    if isinstance(base, Fraction):
        if base < 0 or (base == 0 and not (isinstance(exponent, Fraction) and exponent > 0)):
            raise Undefined("a fractional power of a number that is not positive")
        if base in (0, 1):
            return base
        if isinstance(exponent, Fraction):
            exact = exact_root(base, exponent.denominator)
            if exact is not None:
                return _integer_power(exact, exponent.numerator)
    elif base.a <= 0:
        raise Undefined("a fractional power of a number that may not be positive")
    size = interval(exponent) * iv.log(interval(base))
    if abs(size).b > BITS:
        raise Undefined("too large")
    return iv.exp(size)


def _integer_power(base: Value, exponent: int) -> Value:
    if exponent <= 0 and (base == 0 if isinstance(base, Fraction) else 0 in base):
        raise Undefined("zero to a power that is not positive")
    if exponent == 0:
        return Fraction(1)
    if isinstance(base, Fraction):
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if base not in (0, 1, -1) and bits * abs(exponent) > BITS:
            raise Undefined("too large")
        spend(bits * abs(exponent) // BITS_PER_OPERATION)
        return base**exponent if base not in (1, -1) else Fraction(base ** (exponent % 2))
    if abs(exponent) > BITS:
        raise Undefined("too large")
    return base**exponent


def exact_root(value: Fraction, degree: int) -> Fraction | None:
    """The rational root of a fraction ≥ 0, if there is one."""
    if degree > 64:
        return None
    top, bottom = _integer_root(value.numerator, degree), _integer_root(value.denominator, degree)
    return Fraction(top, bottom) if top is not None and bottom is not None else None


def _integer_root(value: int, degree: int) -> int | None:
    if degree == 2:
        root = math.isqrt(value)
    elif value.bit_length() > LONGEST_ROOT:
        return None
    else:
        root, above = 0, 1 << (value.bit_length() // degree + 1)
        while above - root > 1:
            middle = (root + above) // 2
            root, above = (middle, above) if middle**degree <= value else (root, middle)
    return root if root**degree == value else None
