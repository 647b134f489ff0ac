"""The known functions on exact fractions and on intervals, with real values only."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from mpmath import iv, mp

from apps.mathcheck.testing.values import BITS, PRECISION, Undefined, Value, divided, exact_root, integer, interval, power
from apps.mathcheck.testing.work import INTERVAL, spend

#: Work of a function in operations; the other functions work on intervals.
_HARD = {**dict.fromkeys(("abs", "floor", "ceil", "gcd", "lcm", "max", "min"), 2), "binom": 10, "factorial": 10, "totient": 40}
LARGEST_FACTORIAL = 400
LARGEST_TOTIENT = 100_000
LARGEST_BASE = 10**6


def apply(function: str, values: Sequence[Value]) -> Value:
    """The function's value; raises Undefined outside its domain."""
    spend(_HARD.get(function, INTERVAL))
    return _FUNCTIONS[function](*values)


def _sqrt(value: Value) -> Value:
    return _root(value, Fraction(2))


def _root(value: Value, degree: Value) -> Value:
    """The real root of a number ≥ 0, and of odd degree of any number."""
    index = integer(degree)
    if not 1 <= index <= 64:
        raise Undefined("a root of that degree")
    if isinstance(value, Fraction):
        if value < 0:
            if index % 2 == 0:
                raise Undefined("a root of a negative number")
            return -_root(-value, degree)
        exact = exact_root(value, index)
        if exact is not None:
            return exact
    elif value.a < 0:
        raise Undefined("a root of a number that may be negative")
    elif index == 2:
        return iv.sqrt(value)
    return power(value, Fraction(1, index))


def _log(value: Value, base: Value | None = None) -> Value:
    if isinstance(value, Fraction) and base is not None and isinstance(base, Fraction):
        exact = _exact_log(value, base)
        if exact is not None:
            return exact
    if isinstance(value, Fraction) and value == 1:
        return Fraction(0)
    if (value <= 0) if isinstance(value, Fraction) else value.a <= 0:
        raise Undefined("a logarithm of a number that is not positive")
    found = iv.log(interval(value))
    return found if base is None else divided(found, _log(base))


def _exact_log(value: Fraction, base: Fraction) -> Fraction | None:
    if base <= 1 or base.denominator != 1 or base > LARGEST_BASE:
        return None
    spend(60)
    for exponent in range(-64, 65):
        if base**exponent == value:
            return Fraction(exponent)
    return None


def _exp(value: Value) -> Value:
    argument = interval(value)
    if abs(argument).b > BITS:
        raise Undefined("too large")
    return iv.exp(argument)


def _arctan(value: Value) -> Value:
    argument = interval(value)
    with mp.workprec(PRECISION + 40):
        low, high = mp.atan(mp.mpf(argument.a)), mp.atan(mp.mpf(argument.b))
        edge = mp.mpf(2) ** (-PRECISION + 8)
        return iv.mpf([low - edge, high + edge])


def _arcsin(value: Value) -> Value:
    argument = interval(value)
    if argument.a <= -1 or argument.b >= 1:
        raise Undefined("an arcsine at or beyond 1")
    return _arctan(argument / iv.sqrt(1 - argument**2))


def _artanh(value: Value) -> Value:
    argument = interval(value)
    if argument.a <= -1 or argument.b >= 1:
        raise Undefined("an area tangent at or beyond 1")
    return iv.log((1 + argument) / (1 - argument)) / 2


def _arcosh(value: Value) -> Value:
    argument = interval(value)
    if argument.a < 1:
        raise Undefined("an area cosine below 1")
    return iv.log(argument + iv.sqrt(argument**2 - 1))


def _whole(value: Value, rounding: Callable[[Any], Any]) -> Fraction:
    if isinstance(value, Fraction):
        return Fraction(int(rounding(value)))
    with mp.workprec(4 * PRECISION):
        low, high = (int(rounding(mp.mpf(edge))) for edge in (value.a, value.b))
    if low != high:
        raise Undefined("a floor at a jump")
    return Fraction(low)


def _factorial(value: Value) -> Fraction:
    number = integer(value)
    if not 0 <= number <= LARGEST_FACTORIAL:
        raise Undefined("a factorial out of bounds")
    return Fraction(math.factorial(number))


def _binom(top: Value, bottom: Value) -> Fraction:
    upper, lower = integer(top), integer(bottom)
    if not (0 <= upper <= 2000 and lower >= 0):
        raise Undefined("a binomial coefficient out of bounds")
    return Fraction(math.comb(upper, lower))


def _totient(value: Value) -> Fraction:
    number = integer(value)
    if not 1 <= number <= LARGEST_TOTIENT:
        raise Undefined("a totient out of bounds")
    result, rest, divisor = number, number, 2
    while divisor * divisor <= rest:
        if rest % divisor == 0:
            while rest % divisor == 0:
                rest //= divisor
            result -= result // divisor
        divisor += 1
    return Fraction(result - result // rest if rest > 1 else result)


def _integers(combine: Callable[..., int]) -> Callable[..., Fraction]:
    def combined(*values: Value) -> Fraction:
        return Fraction(combine(*(integer(value) for value in values)))

    return combined


def _extreme(greatest: bool) -> Callable[..., Value]:
    def chosen(*values: Value) -> Value:
        if not all(isinstance(value, Fraction) for value in values):
            raise Undefined("a maximum of numbers that are not exact")
        return max(values) if greatest else min(values)

    return chosen


def _exact_zero(function: Callable[[Any], Any], at_zero: int) -> Callable[[Value], Value]:
    def applied(value: Value) -> Value:
        return Fraction(at_zero) if isinstance(value, Fraction) and value == 0 else function(interval(value))

    return applied


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "sqrt": _sqrt,
    "root": _root,
    "abs": lambda value: abs(value),
    "floor": lambda value: _whole(value, math.floor if isinstance(value, Fraction) else mp.floor),
    "ceil": lambda value: _whole(value, math.ceil if isinstance(value, Fraction) else mp.ceil),
    "factorial": _factorial,
    "binom": _binom,
    "totient": _totient,
    "gcd": _integers(math.gcd),
    "lcm": _integers(math.lcm),
    "max": _extreme(True),
    "min": _extreme(False),
    "ln": _log,
    "log": _log,
    "lg": lambda value: _log(value, Fraction(10)),
    "exp": _exact_zero(_exp, 1),
    "sin": _exact_zero(iv.sin, 0),
    "cos": _exact_zero(iv.cos, 1),
    "tan": _exact_zero(lambda x: divided(iv.sin(x), iv.cos(x)), 0),
    "cot": lambda x: divided(iv.cos(interval(x)), iv.sin(interval(x))),
    "sec": lambda x: divided(Fraction(1), iv.cos(interval(x))),
    "csc": lambda x: divided(Fraction(1), iv.sin(interval(x))),
    "sinh": _exact_zero(lambda x: (_exp(x) - _exp(-x)) / 2, 0),
    "cosh": _exact_zero(lambda x: (_exp(x) + _exp(-x)) / 2, 1),
    "tanh": _exact_zero(lambda x: (_exp(2 * x) - 1) / (_exp(2 * x) + 1), 0),
    "arsinh": _exact_zero(lambda x: iv.log(x + iv.sqrt(x**2 + 1)), 0),
    "arcosh": _arcosh,
    "artanh": _exact_zero(_artanh, 0),
    "arctan": _exact_zero(_arctan, 0),
    "arcsin": _exact_zero(_arcsin, 0),
    "arccos": lambda x: iv.pi / 2 - _exact_zero(_arcsin, 0)(x),
}
