"""Whether two expressions are equal: by exact means first, by numbers last.

1. Numbers: exact fractions; intervals that do not meet; separation bounds, which prove that a small difference is 0.
2. Quotients of polynomials, with π and e as letters: one exact evaluation (Kronecker's substitution).
3. Numbers last: agreement to 600 digits, or at all of the test points.

Neither a coincidence at some points nor one under conditions that no answer states decides anything.
"""

import random
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from apps.reasoning.answers.outcomes import Comparison, different, equal, undecided
from apps.reasoning.answers.values.intervals import Value, is_below, sign_of
from apps.reasoning.answers.values.separation import bound_of
from apps.reasoning.answers.values.terms import MINUS_ONE, Term, add, mul, names, nodes
from apps.reasoning.answers.values.values import Evaluator
from apps.reasoning.answers.work import MOST_BITS, NoValue, Work

_FIRST_BITS = 128
_LAST_BITS = 2_400
_NEAR = -2_000
#: Numbers of more bits than these may differ below what 600 digits, or test points, show.
_MOST_LONG = 400
_MOST_LONG_AT_POINTS = 100
_POINT_BITS = 320
_POINTS = 24
_ENOUGH = 10
#: Letters that usually denote whole numbers.
_WHOLE = frozenset("ijklmnpqNMKdrst")


def terms_equal(one: Term, two: Term, work: Work) -> Comparison:
    """Whether two expressions are equal: as numbers, or for all values of their letters. Raises `TooMuchWork`."""
    if one == two:
        return equal("the same expression")
    letters = names(one) | names(two)
    if _is_infinite(one) or _is_infinite(two):
        return (
            different("only one of them is infinite")
            if _is_infinite(one) != _is_infinite(two)
            else undecided("both are infinite")
        )
    found = _as_polynomials(one, two, work)
    if found is not None and (found.outcome == "equal" or not letters or letters == {"i"}):
        return found
    if any(term.op == "unknown" for side in (one, two) for term in nodes(side)):
        return undecided("they hold a function whose values are not known")
    if not letters:
        return _numbers_equal(one, two, work)
    if letters == {"i"}:
        return undecided("they may hold the imaginary unit")
    if names(one) != names(two):
        return _with_other_letters(one, two, work)
    return found or _equal_at_points(one, two, sorted(letters), work)


def difference(one: Term, two: Term) -> Term:
    return add(one, mul(MINUS_ONE, two))


# --- numbers ---------------------------------------------------------------------------------------------------------


def _numbers_equal(one: Term, two: Term, work: Work) -> Comparison:
    gap = difference(one, two)
    try:
        value = Evaluator({}, _FIRST_BITS, work).value(gap)
    except NoValue as problem:
        return undecided(str(problem))
    if (sign := sign_of(value)) is not None:
        return equal("equal as exact numbers") if not sign else different("different numbers")
    bound = bound_of(gap, work, letters=False)
    bits = int(bound.bits) + 32 if bound is not None and bound.bits < MOST_BITS else _LAST_BITS
    finest = Evaluator({}, bits + 64, work)
    value = finest.value(gap)
    if sign_of(value):
        return different("different numbers")
    if bound is not None and bound.bits < MOST_BITS:
        is_zero = is_below(value, -int(bound.bits) - 1)
        return equal("equal as algebraic numbers") if is_zero else undecided("their difference is too small to be decided")
    if finest.longest >= _MOST_LONG:
        return undecided("a number in them is too fine or too large to compare them by their digits")
    if is_below(value, _NEAR):
        return equal("equal to 600 digits")
    return undecided("their difference is too small to be decided")


def number_sign(term: Term, work: Work) -> int | None:
    """The sign of a number, None where it is not decided. Raises `TooMuchWork`."""
    found = _numbers_equal(term, Term("number", (), Fraction(0)), work)
    if found.outcome == "equal":
        return 0
    if found.outcome == "undecided":
        return None
    for bits in (_FIRST_BITS, MOST_BITS // 4):
        if sign := sign_of(Evaluator({}, bits, work).value(term)):
            return sign
    return None


# --- polynomials -----------------------------------------------------------------------------------------------------


def _as_polynomials(one: Term, two: Term, work: Work) -> Comparison | None:
    gap = difference(one, two)
    bound = bound_of(gap, work, letters=True)
    if bound is None or not bound.degrees or bound.size > MOST_BITS // 2:
        return None
    try:
        point = bound.point()
        value = Evaluator(point, _FIRST_BITS, work).value(_constants_as_letters(gap))
    except NoValue:
        return None
    if value == 0:
        return equal("equal as quotients of polynomials")
    if not isinstance(value, Fraction) or len({"π", "e"} & point.keys()) > 1:
        return None
    if names(gap) == {"i"} and bound.degrees["i"] != (1, 0):
        return undecided("they may hold powers of the imaginary unit")
    # π and e are transcendental, so a polynomial in one of them with rational coefficients is not 0.
    return different("different for almost all values of the letters" if names(gap) else "different numbers")


def _constants_as_letters(term: Term) -> Term:
    if term.op == "constant":
        return Term("name", (), term.value)
    return term._replace(args=tuple(_constants_as_letters(part) for part in term.args)) if term.args else term


def _is_infinite(term: Term) -> bool:
    return any(one.value == r"\infty" for one in nodes(term))


def _with_other_letters(one: Term, two: Term, work: Work) -> Comparison:
    """A letter on only one side may cancel; otherwise its meaning is unknown, unless the other side is a number."""
    found = _equal_at_points(one, two, sorted(names(one) | names(two)), work)
    if found.outcome == "equal" or (found.outcome == "different" and not (names(one) and names(two))):
        return found
    only = ", ".join(sorted(names(one) ^ names(two)))
    return undecided(f"only one of them has the letter {only}, whose meaning is unknown")


# --- test points -----------------------------------------------------------------------------------------------------


def _equal_at_points(one: Term, two: Term, letters: list[str], work: Work) -> Comparison:
    """Whole numbers, positive fractions, negative numbers. They must agree wherever both have a value."""
    if _longest(one, two, work) >= _MOST_LONG_AT_POINTS:
        return undecided("a number in them is too fine or too large for test points")
    agreed, total, example = {}, {}, ""
    for kind in ("whole", "positive", "negative"):
        agreed[kind] = total[kind] = 0
        for point in _points(letters, kind):
            found = _agree_at(one, two, point, work)
            if found is None:
                continue
            total[kind] += 1
            agreed[kind] += found
            if not found:
                example = example or ", ".join(f"{name} = {value}" for name, value in point.items())
        if kind == "whole" and total[kind] >= _ENOUGH and _WHOLE.issuperset(name[0] for name in letters):
            break
    return _judged(agreed, total, example)


def _longest(one: Term, two: Term, work: Work) -> int:
    """The most bits of a number that is written in them."""
    numbers = Evaluator({}, _POINT_BITS, work)
    for each in (*nodes(one), *nodes(two)):
        with suppress(NoValue):
            if not names(each):
                numbers.value(each)
    return numbers.longest


def _judged(agreed: dict[str, int], total: dict[str, int], example: str) -> Comparison:
    alike, points = sum(agreed.values()), sum(total.values())
    if points < _ENOUGH:
        return undecided(f"only {points} of the test points give both a value")
    if alike == points:
        return equal(f"equal at all {points} test points")
    if all(agreed[kind] == total[kind] for kind in ("whole", "positive") if kind in total):
        return undecided("they are equal for positive values of the letters only")
    if agreed["whole"] == total["whole"] and total["whole"]:
        return undecided("they are equal for whole values of the letters only")
    if 3 * alike >= points:
        return undecided(f"they are equal at {alike} of {points} test points: perhaps under a condition of the problem")
    return different(f"different at {example}")


def _points(letters: list[str], kind: str) -> Iterator[dict[str, Fraction]]:
    draw = random.Random(f"{kind} {len(letters)}")  # noqa: S311  (the same points for the same letters)
    for number in range(_POINTS):
        if kind == "whole":
            values = [Fraction(number + 1 if len(letters) == 1 else draw.randint(1, 12)) for _ in letters]
        elif number % 2:
            values = [Fraction(draw.randint(1, 97), 97) * (1 + number // 6) for _ in letters]
        else:
            values = [Fraction(draw.randint(1, 400), draw.choice((3, 7, 11, 13))) for _ in letters]
        yield {name: -value if kind == "negative" else value for name, value in zip(letters, values, strict=True)}


def _agree_at(one: Term, two: Term, point: dict[str, Fraction], work: Work) -> bool | None:
    evaluator = Evaluator(point, _POINT_BITS, work)
    try:
        left, right = evaluator.value(one), evaluator.value(two)
        gap: Value = evaluator.minus(left, right)
    except NoValue:
        return None
    sign = sign_of(gap)
    if sign is not None:
        return sign == 0
    size = evaluator.interval(right if not isinstance(right, Fraction) else left)
    scale = max(0, -evaluator.smallest)
    return True if is_below(gap, -_POINT_BITS // 2 - min(scale, 40)) or _is_small_against(gap, size) else None


def _is_small_against(gap: Value, size: Value) -> bool:
    """Whether the difference is below the size by 150 bits."""
    return any(is_below(gap, bits - 150) and not is_below(size, bits) for bits in range(0, 4_000, 100))
