"""Claims about terms of a sequence that repeats: exactly, as 2, -1, 1/2, 2, …, or modulo a number.

The rule must not use the index itself. Once as many terms as the order come again, all later terms do, so that it is enough to
compute the claim up to the end of one period.
"""

from collections.abc import Callable
from fractions import Fraction

from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.exactly import holds_exactly
from apps.mathcheck.proving.sequences import INDEX, Recurrence, is_term
from apps.mathcheck.proving.whole import NotPeriodic, cleared, is_linear, minus, number_of, residue
from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined
from apps.mathcheck.testing.work import spend
from apps.mathcheck.tex.tree import Node, free_names, number, rebuilt, walk

METHOD, MOST_TERMS = "the period of a sequence", 1_500


def by_period(claim: Condition, sequence: Recurrence, key: str) -> Certificate | None:
    """A certificate if the sequence repeats, and the claim uses its name in indices of terms only."""
    if INDEX in free_names(sequence.rule) or key in _outside(claim):
        return None
    try:
        modulus = _modulus(claim)
        terms, start = _terms(sequence, modulus)
        slopes = [_index(part.args[0], key) for side in (claim.left, claim.right) for part in walk(side) if is_term(part)]
    except (NotPeriodic, Undefined, ArithmeticError):
        return None
    if start is None or not slopes:
        return None
    period = len(terms) - sequence.order - start
    # The first n with all indices in the sequence, and the first from which on all are in the part that repeats.
    first, settled = (max(-((shift - sequence.first - offset) // slope) for slope, shift in slopes) for offset in (0, start))
    for at in range(first, max(first, settled) + period):
        spend(4)
        if not _holds(claim, sequence, terms, start, key, at, modulus):
            return None
    modulo = f" modulo {modulus}" if modulus else ""
    line = f"from place {sequence.first + start} on the terms{modulo} repeat with the period {period}"
    cases = f"computed for {key} from {first} to {max(first, settled) + period - 1}"
    return Certificate(METHOD, (line, cases), (*sequence.shown, f"{key} whole, at least {first}"))


def _outside(claim: Condition) -> frozenset[str]:
    """The names that occur outside indices."""
    zero = number(0)

    def change(part: Node) -> Node | None:
        return zero if is_term(part) else None

    return free_names(rebuilt(claim.left, change)) | free_names(rebuilt(claim.right, change))


def _modulus(claim: Condition) -> int:
    """The modulus or the divisor; 0 if there is none."""
    if claim.modulus is not None:
        return number_of(claim.modulus)
    return number_of(claim.left) if claim.relation in (r"\mid", r"\nmid") else 0


def _terms(sequence: Recurrence, modulus: int) -> tuple[list[Fraction], int | None]:
    """Terms to the end of the first repetition, and the place where what repeats begins; None if nothing does."""
    following = _following(sequence, modulus)
    terms = [one % modulus if modulus else one for one in sequence.start]
    if modulus and any(one.denominator != 1 for one in sequence.start):
        raise NotPeriodic
    seen: dict[tuple[Fraction, ...], int] = {}
    for place in range(MOST_TERMS):
        window = tuple(terms[place : place + sequence.order])
        if window in seen:
            return terms, seen[window]
        seen[window] = place
        spend(4)
        terms.append(following(window))
    return terms, None


def _following(sequence: Recurrence, modulus: int) -> Callable[[tuple[Fraction, ...]], Fraction]:
    if modulus:
        rule = cleared(sequence.rule)
        if rule.scale != 1:
            raise NotPeriodic
        return lambda window: Fraction(residue(rule.whole, {f"W{at}": int(one) for at, one in enumerate(window)}, modulus))

    def exact(window: tuple[Fraction, ...]) -> Fraction:
        value = value_at(sequence.rule, {f"W{at}": one for at, one in enumerate(window)})
        if not isinstance(value, Fraction) or value.denominator.bit_length() + value.numerator.bit_length() > 200:
            raise NotPeriodic
        return value

    return exact


def _index(index: Node, key: str) -> tuple[int, int]:
    """Slope and shift of a linear index that grows with the name."""
    plain = all(part.op in ("name", "num", "add", "mul", "neg") for part in walk(index))
    if free_names(index) != {key} or not plain or not is_linear(index):
        raise NotPeriodic
    zero, one = (value_at(index, {key: Fraction(at)}) for at in (0, 1))
    slope = one - zero
    if slope <= 0 or slope.denominator != 1 or zero.denominator != 1:
        raise NotPeriodic
    return int(slope), int(zero)


def _holds(claim: Condition, sequence: Recurrence, terms: list[Fraction], start: int, key: str, at: int, modulus: int) -> bool:
    """The claim at one value of its name."""
    period = len(terms) - sequence.order - start

    def change(part: Node) -> Node | None:
        if not is_term(part):
            return None
        place = int(value_at(part.args[0], {key: Fraction(at)})) - sequence.first
        return number(terms[place if place < start else start + (place - start) % period])

    sides = [rebuilt(side, change) for side in (claim.left, claim.right)]
    if not modulus:
        return holds_exactly(Condition(claim.relation, sides[0], sides[1]), {})
    try:
        whole = cleared(minus(*sides) if claim.modulus is not None else sides[1])
        is_divided = residue(whole.whole, {}, modulus) == 0
    except NotPeriodic:
        return False
    wanted = claim.relation in ("=", r"\equiv", r"\mid")
    return whole.scale == 1 and is_divided is wanted
