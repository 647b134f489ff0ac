"""Functions of whole numbers, and exact roots. Arguments are bounded: what would be too large has no value here."""

import math
from collections.abc import Callable

from apps.reasoning.answers.work import NoValue

MOST_ARGUMENT = 2_200


def whole_root(number: int, degree: int) -> int | None:
    """The root where it is a whole number that is cheap to find; else None."""
    if number < 2:
        return number
    if degree == 2:
        found = math.isqrt(number)
        return found if found * found == number else None
    if degree >= number.bit_length() or number.bit_length() > MOST_ARGUMENT:
        return None
    low, high = 1, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**degree < number:
            low = middle + 1
        else:
            high = middle
    return low if low**degree == number else None


def _factorial(numbers: list[int]) -> int:
    if not 0 <= numbers[0] <= MOST_ARGUMENT:
        raise NoValue("a factorial of a negative or a very large number is not computed")
    return math.factorial(numbers[0])


def _double_factorial(numbers: list[int]) -> int:
    if not -1 <= numbers[0] <= MOST_ARGUMENT:
        raise NoValue("a factorial of a negative or a very large number is not computed")
    return math.prod(range(numbers[0], 1, -2))


def _binomial(numbers: list[int]) -> int:
    above, below = numbers
    if not 0 <= above <= 4 * MOST_ARGUMENT:
        raise NoValue("a binomial of a negative or a very large number is not computed")
    return math.comb(above, below) if below >= 0 else 0


COMBINATORIAL: dict[str, Callable[[list[int]], int]] = {
    "factorial": _factorial,
    "double_factorial": _double_factorial,
    "binom": _binomial,
    "gcd": lambda numbers: math.gcd(*numbers),
    "lcm": lambda numbers: math.lcm(*numbers),
}
