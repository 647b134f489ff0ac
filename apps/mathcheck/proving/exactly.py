"""Claims about numbers, and claims about finitely many whole numbers: everything is computed."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import prod

from mpmath import iv

from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import EXACT, Undefined, interval
from apps.mathcheck.testing.work import spend

MOST_CASES = 4_000


def holds_exactly(claim: Condition, point: Mapping[str, Fraction]) -> bool:
    """Whether the claim is certain at a point: with exact numbers, or with intervals that do not meet."""
    try:
        left, right = value_at(claim.left, point), value_at(claim.right, point)
        if claim.modulus is not None or claim.relation in (r"\mid", r"\nmid"):
            return claim.at(dict(point)) is True
    except (Undefined, ArithmeticError, ValueError, TypeError):
        return False
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return claim.relation in EXACT and EXACT[claim.relation](left, right)
    difference = interval(left) - interval(right)
    if difference.a > 0:
        return claim.relation in (">", r"\ge", r"\ne")
    return bool(difference.b < 0) and claim.relation in ("<", r"\le", r"\ne")


def computed(facts: Facts) -> Certificate | None:
    """A claim without names."""
    claim = facts.claim
    if claim.names or not holds_exactly(claim, {}):
        return None
    sides = [value_at(side, {}) for side in (claim.left, claim.right)]
    if all(isinstance(side, Fraction) for side in sides):
        left, right = map(_short, sides)
        shown = f"both sides are {left}" if left == right else f"the left side is {left}, the right side is {right}"
        return Certificate("exact arithmetic", (shown,))
    return Certificate("interval arithmetic", ("both sides lie in intervals that do not meet: " + _ranges(sides),))


def _short(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:16]}… ({len(text)} characters)"


def _ranges(sides: list[object]) -> str:
    shown = []
    for side in sides:
        found = interval(side)
        shown.append(f"[{iv.nstr(found.a, 12)}, {iv.nstr(found.b, 12)}]" if not isinstance(side, Fraction) else _short(side))
    return " and ".join(shown)


def enumerated(facts: Facts) -> Certificate | None:
    """A claim about whole names with numbers as bounds: every case is computed."""
    names = sorted(facts.claim.names)
    if not names or any(key.startswith("@") for key in names):
        return None
    bounds = [facts.bound(key) for key in names]
    if not all(bound.whole and bound.low is not None and bound.high is not None for bound in bounds):
        return None
    ranges = [range(bound.start, bound.end + 1) for bound in bounds]
    if not 0 < prod(map(len, ranges)) <= MOST_CASES:
        return None
    usable = [one for one in facts.conditions if one.names <= set(names)]
    cases = 0
    for chosen in product(*ranges):
        spend(1)
        point = {key: Fraction(value) for key, value in zip(names, chosen, strict=True)}
        if any(one.at(point) is False for one in usable) or not _is_admitted(facts, point):
            continue
        cases += 1
        if not holds_exactly(facts.claim, point):
            return None
    if not cases:
        return None
    tried = ", ".join(f"{key} = {values[0]} to {values[-1]}" for key, values in zip(names, ranges, strict=True))
    return Certificate("every case", (f"computed for every {tried}: {cases} cases",), facts.shown(facts.claim.names))


def _is_admitted(facts: Facts, point: Mapping[str, Fraction]) -> bool:
    return all(facts.domains[key].contains(value) for key, value in point.items() if key in facts.domains)
