"""Values of expressions: exact fractions where possible, else intervals that surely contain the real value.

Every operation is counted by the bits it works on. Neither an exact value nor an exponent grows beyond a bound.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import reduce

from mpmath.libmp import from_rational, mpf_ceil, mpf_floor, mpf_sign, round_ceiling, round_floor, to_int
from mpmath.libmp.libmpi import (
    mpi_abs,
    mpi_add,
    mpi_atan,
    mpi_cos,
    mpi_div,
    mpi_exp,
    mpi_log,
    mpi_mul,
    mpi_pi,
    mpi_sin,
    mpi_sqrt,
)

from apps.reasoning.answers.values.functions import COMBINATORIAL, MOST_ARGUMENT, whole_root
from apps.reasoning.answers.values.intervals import Interval, Value, exponent_of, log2_of, sign_of, whole_of
from apps.reasoning.answers.values.terms import Term
from apps.reasoning.answers.work import MOST_BITS, NoValue, Work

MOST_MAGNITUDE = 1 << 40
_TRANSCENDENTAL = 12


class Evaluator:
    """Values at one point (letter → number) with `bits` of precision."""

    def __init__(self, point: Mapping[str, Fraction], bits: int, work: Work) -> None:
        self.point = point
        self.bits = bits
        self.work = work
        self.smallest = 0  # The binary exponent of the smallest value other than 0 that came up.
        self.longest = 0  # The most bits of an exact number, or the largest size of an exponent, that came up.

    def value(self, term: Term) -> Value:
        """Raises `NoValue` and `TooMuchWork`."""
        self.work.spend(1)
        found = self._computed(term)
        if isinstance(found, Fraction):
            bits = max(found.numerator.bit_length(), found.denominator.bit_length())
            self.longest = max(self.longest, bits)
            if bits > MOST_BITS:
                found = self.interval(found)
        elif mpf_sign(found[0]) * mpf_sign(found[1]) > 0:
            exponents = exponent_of(found[0]), exponent_of(found[1])
            self.smallest = min(self.smallest, *exponents)
            self.longest = max(self.longest, *map(abs, exponents))
        return found

    def interval(self, value: Value) -> Interval:
        """The value as an interval."""
        if not isinstance(value, Fraction):
            return value
        top, bottom = value.numerator, value.denominator
        return from_rational(top, bottom, self.bits, round_floor), from_rational(top, bottom, self.bits, round_ceiling)

    # --- arithmetic --------------------------------------------------------------------------------------------------

    def _computed(self, term: Term) -> Value:
        match term.op:
            case "number":
                return Fraction(term.value or 0)
            case "name":
                if str(term.value) not in self.point:
                    raise NoValue(f"{term.value} has no value")
                return self.point[str(term.value)]
            case "constant":
                return self._pi() if term.value == "π" else mpi_exp(self.interval(Fraction(1)), self.bits)
            case "add":
                return reduce(self.plus, (self.value(one) for one in term.args))
            case "mul":
                return reduce(self.times, (self.value(one) for one in term.args))
            case "div":
                return self.divided(*(self.value(one) for one in term.args))
            case "pow":
                return self._power(*(self.value(one) for one in term.args))
            case "root":
                return self._root(*(self.value(one) for one in term.args))
            case "degrees":
                return self.divided(self.times(self.value(term.args[0]), self._pi()), Fraction(180))
            case _:
                return self._function(term)

    def _pi(self) -> Interval:
        self.work.spend(self._cost())
        return mpi_pi(self.bits)

    def _cost(self) -> int:
        return _TRANSCENDENTAL * (1 + self.bits // 256)

    def _spend_on(self, *values: Value) -> None:
        sizes = [one.numerator.bit_length() + one.denominator.bit_length() for one in values if isinstance(one, Fraction)]
        self.work.spend(1 + max([self.bits, *sizes]) // 1024)

    def plus(self, one: Value, two: Value) -> Value:
        self._spend_on(one, two)
        if isinstance(one, Fraction) and isinstance(two, Fraction):
            return one + two
        return mpi_add(self.interval(one), self.interval(two), self.bits)

    def minus(self, one: Value, two: Value) -> Value:
        return self.plus(one, self.times(Fraction(-1), two))

    def times(self, one: Value, two: Value) -> Value:
        self._spend_on(one, two)
        if isinstance(one, Fraction) and isinstance(two, Fraction):
            return one * two
        if 0 in (one, two):
            return Fraction(0)
        return mpi_mul(self.interval(one), self.interval(two), self.bits)

    def divided(self, one: Value, two: Value) -> Value:
        self._spend_on(one, two)
        if isinstance(two, Fraction):
            if not two:
                raise NoValue("a denominator is 0")
            if isinstance(one, Fraction):
                return one / two
        elif mpf_sign(two[0]) * mpf_sign(two[1]) <= 0:
            raise NoValue("a denominator may be 0")
        return mpi_div(self.interval(one), self.interval(two), self.bits)

    # --- powers and roots --------------------------------------------------------------------------------------------

    def _power(self, base: Value, exponent: Value) -> Value:
        if isinstance(exponent, Fraction) and exponent.denominator == 1:
            return self._whole_power(base, exponent.numerator)
        if isinstance(base, Fraction) and base < 0:
            raise NoValue("a power of a negative number has no real value")
        if isinstance(base, Fraction) and isinstance(exponent, Fraction):
            if not base:
                if exponent <= 0:
                    raise NoValue("a power of 0 has no value")
                return Fraction(0)
            if exponent.denominator <= 64 and abs(exponent.numerator) <= MOST_ARGUMENT:
                return self._whole_power(self._root(base, Fraction(exponent.denominator)), exponent.numerator)
        return self._exp(self.times(exponent, self._log(base)))

    def _whole_power(self, base: Value, exponent: int) -> Value:
        if not exponent:
            if isinstance(base, Fraction) and not base:
                raise NoValue("0 to the 0 has no value")
            return Fraction(1)
        if isinstance(base, Fraction):
            if not base and exponent < 0:
                raise NoValue("a denominator is 0")
            if base in (0, 1):
                return base
            bits = max(base.numerator.bit_length(), base.denominator.bit_length())
            if bits * abs(exponent) <= MOST_BITS:
                self.work.spend(1 + bits * abs(exponent) // 1024)
                return base**exponent
        sign = -1 if exponent % 2 and self._is_below_zero(base) else 1
        size: Value = abs(base) if isinstance(base, Fraction) else mpi_abs(base, self.bits)
        finer = Evaluator(self.point, self.bits + exponent.bit_length() + 16, self.work)
        return self.times(Fraction(sign), finer._exp(finer.times(Fraction(exponent), finer._log(size))))

    def _is_below_zero(self, value: Value) -> bool:
        if isinstance(value, Fraction):
            return value < 0
        if mpf_sign(value[0]) * mpf_sign(value[1]) <= 0:
            raise NoValue("the sign of a base is not certain")
        return bool(mpf_sign(value[0]) < 0)

    def _root(self, value: Value, degree: Value) -> Value:
        if not isinstance(degree, Fraction) or degree.denominator != 1 or not 2 <= degree <= 1_000_000:
            raise NoValue("a root has a degree that is not a whole number from 2")
        number = degree.numerator
        if isinstance(value, Fraction):
            if value < 0:
                if number % 2 == 0:
                    raise NoValue("an even root of a negative number has no real value")
                return self.times(Fraction(-1), self._root(-value, degree))
            top, bottom = (whole_root(part, number) for part in (value.numerator, value.denominator))
            if top is not None and bottom is not None:
                return Fraction(top, bottom)
        elif mpf_sign(value[0]) <= 0:
            if mpf_sign(value[1]) < 0 and number % 2:
                return self.times(Fraction(-1), self._root(self.times(Fraction(-1), value), degree))
            raise NoValue("a root of what may be negative or 0 has no certain value")
        self.work.spend(self._cost())
        if number == 2:
            return mpi_sqrt(self.interval(value), self.bits)
        return self._exp(self.divided(self._log(value), degree))

    def _log(self, value: Value) -> Value:
        if isinstance(value, Fraction):
            if value <= 0:
                raise NoValue("a logarithm of what is not positive has no value")
            if value == 1:
                return Fraction(0)
        elif mpf_sign(value[0]) <= 0:
            raise NoValue("a logarithm of what may not be positive has no value")
        self.work.spend(self._cost())
        return mpi_log(self.interval(value), self.bits)

    def _exp(self, value: Value) -> Value:
        if isinstance(value, Fraction) and not value:
            return Fraction(1)
        found = self.interval(value)
        if max(exponent_of(found[0]), exponent_of(found[1])) > MOST_MAGNITUDE.bit_length():
            raise NoValue("a number in it is too large to compute")
        self.work.spend(self._cost())
        return mpi_exp(found, self.bits + 64)

    # --- functions ---------------------------------------------------------------------------------------------------

    def _function(self, term: Term) -> Value:
        args = [self.value(one) for one in term.args]
        match term.op:
            case "abs":
                one = args[0]
                return abs(one) if isinstance(one, Fraction) else mpi_abs(one, self.bits)
            case "floor" | "ceil":
                return self._rounded(args[0], term)
            case "exp":
                return self._exp(args[0])
            case "ln":
                return self._log(args[0])
            case "log":
                return self._logarithm(args[0], args[1])
            case "sin" | "cos" | "tan" | "cot" | "atan":
                return self._trigonometric(term.op, args[0])
            case "max" | "min":
                return self._extreme(args, term.op == "max")
        numbers = [whole_of(one) for one in args]
        found = COMBINATORIAL.get(term.op)
        if found is None:
            raise NoValue(f"{term.value or term.op} is not a function that is known here")
        self.work.spend(1 + sum(abs(one) for one in numbers) // 4 if term.op not in ("gcd", "lcm") else len(numbers))
        return Fraction(found(numbers))

    def _rounded(self, value: Value, term: Term) -> Value:
        rounded = math.floor if term.op == "floor" else math.ceil
        if isinstance(value, Fraction):
            return Fraction(rounded(value))
        if max(exponent_of(value[0]), exponent_of(value[1])) > MOST_BITS:
            raise NoValue("a number in it is too large to round")
        part = mpf_floor if term.op == "floor" else mpf_ceil
        low, high = (to_int(part(end)) for end in value)
        if low != high:
            raise NoValue("a number in it is too near to a whole number to be rounded")
        return Fraction(low)

    def _logarithm(self, value: Value, base: Value) -> Value:
        if isinstance(value, Fraction) and isinstance(base, Fraction) and value > 0 and base > 0 and base != 1:
            guess = round(log2_of(value) / (log2_of(base) or 1))
            if abs(guess) <= MOST_ARGUMENT and self._whole_power(base, guess) == value:
                return Fraction(guess)
        return self.divided(self._log(value), self._log(base))

    def _trigonometric(self, name: str, value: Value) -> Value:
        found = self.interval(value)
        if max(exponent_of(end) for end in found) > 64:
            raise NoValue("an angle in it is too large")
        self.work.spend(self._cost())
        if name == "atan":
            return mpi_atan(found, self.bits)
        if isinstance(value, Fraction) and not value and name != "cot":
            return Fraction(name == "cos")
        sine, cosine = mpi_sin(found, self.bits), mpi_cos(found, self.bits)
        pairs = {"sin": (sine, Fraction(1)), "cos": (cosine, Fraction(1)), "tan": (sine, cosine), "cot": (cosine, sine)}
        return self.divided(*pairs[name])

    def _extreme(self, values: list[Value], largest: bool) -> Value:
        best = values[0]
        for one in values[1:]:
            sign = sign_of(self.minus(one, best))
            if sign is None:
                raise NoValue("which of several numbers is the largest is not certain")
            best = one if (sign > 0) == largest and sign else best
        return best
