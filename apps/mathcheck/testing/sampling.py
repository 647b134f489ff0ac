"""Test points within the domains and conditions: small numbers exhaustively, simple ones first, then random ones."""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from apps.mathcheck.scope import Condition, Domain, Scope
from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined
from apps.mathcheck.testing.work import METER
from apps.mathcheck.tex.tree import Node, free_names, substituted, walk

Point = dict[str, Fraction]
Ranges = dict[str, tuple[Fraction, Fraction]]
"""The least and the greatest value of each name among points."""
#: Values of the pool that each name takes, by the number of names.
WIDTHS = {1: 60, 2: 14, 3: 7, 4: 5, 5: 3, 6: 3}
RANDOM_POINTS = 120
MOST_CONDITIONS, MOST_NAMES = 14, 8
#: Most nodes of an expression that may replace a name.
LARGEST_GIVEN = 60
MOST_SHOWN = 5
INTEGERS = [Fraction(value) for value in (1, 2, 3, 0, -1, 4, 5, -2, 6, 7, -3, 8, 9, 10, -4, 11, 12, 13, -5, *range(14, 60))]
_MIXED_WRITTEN = """
    1 2 1/2 -1 0 3 -2 1/3 3/2 -1/2 4 2/3 5 -3 1/4 1/10 9/10 -9/10 -1/3 10 7/2 -5 100 1/100 -10 99/100 -100 20 6 7 8 9
    3/4 5/4
"""
REALS = [Fraction(value) for value in _MIXED_WRITTEN.split()]


def pool(domain: Domain) -> list[Fraction]:
    """Values of the domain, simple ones first."""
    values = [value for value in (INTEGERS if domain.kind == "integer" else REALS) if domain.contains(value)]
    if domain.kind == "integer" and len(values) < 12:
        values += [Fraction(v) for v in range(60, 200) if domain.contains(Fraction(v))]
    return values


def points(scope: Scope, names: Sequence[str], domains: dict[str, Domain], seed: int = 0) -> Iterator[Point]:
    """Points that satisfy all conditions on the names; possibly none. They end when the work of the test is used up.

    A name that an equation gives in terms of others, as $n=qp+s$ gives $n$, is computed. The grid covers the others.
    """
    conditions = scope.relevant(frozenset(names))
    everything = sorted(set(names).union(*(condition.names for condition in conditions)) if conditions else set(names))
    if any(name.endswith(")") for name in everything) or len(conditions) > MOST_CONDITIONS or len(everything) > MOST_NAMES:
        return
    domain_of = {name: domains.get(name, scope.domain(name)) for name in everything}
    given = given_by_others(conditions)
    free = [name for name in everything if name not in given]
    rest = [condition.replaced(given) if condition.names & given.keys() else condition for condition in conditions]
    for raw in _raw(free, {name: pool(domain_of[name]) for name in free}, seed):
        if METER.is_over:
            return
        point = _fitted(raw, rest, given)
        if point is not None and all(domain_of[name].contains(value) for name, value in point.items()):
            yield point


def given_by_others(conditions: Sequence[Condition]) -> dict[str, Node]:
    """Names that are alone on one side of an equation, with the other side in terms of names that are not."""
    given: dict[str, Node] = {}
    for condition in conditions:
        if condition.relation != "=" or condition.modulus is not None:
            continue
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if one.op != "name" or one.value in given:
                continue
            name, value = str(one.value), substituted(other, given)
            if name not in free_names(value) and sum(1 for _ in walk(value)) <= LARGEST_GIVEN:
                given = {**{key: substituted(known, {name: value}) for key, known in given.items()}, name: value}
                break
    return given


def _raw(names: Sequence[str], pools: dict[str, list[Fraction]], seed: int) -> Iterator[Point]:
    width = WIDTHS.get(len(names), 2)
    choices = [pools[name][:width] for name in names]
    grid = itertools.product(*(range(len(values)) for values in choices))
    for places in sorted(grid, key=lambda item: (sum(item), item)):
        yield {name: values[place] for name, values, place in zip(names, choices, places, strict=True)}
    if not all(pools.values()):
        return
    source = random.Random(seed)  # noqa: S311
    for _ in range(RANDOM_POINTS):
        yield {name: _drawn(source, pools[name]) for name in names}


def _drawn(source: random.Random, values: list[Fraction]) -> Fraction:
    base = source.choice(values)
    if all(value.denominator == 1 for value in values):
        return base
    return base + Fraction(source.randint(1, 99), 101) * (1 if base >= 0 else -1)


def _fitted(point: Point, conditions: Sequence[Condition], given: Mapping[str, Node]) -> Point | None:
    """The point adjusted in one name for every equation that is linear in it, with the given names; None if a condition
    fails."""
    moved: set[str] = set()
    for condition in conditions:
        if condition.relation == "=" and condition.modulus is None and condition.at(point) is not True:
            point = _moved(point, condition, moved)
    if not all(condition.at(point) is True for condition in conditions):
        return None
    computed = {name: _exact(value, point) for name, value in given.items()}
    found = {name: value for name, value in computed.items() if value is not None}
    return {**point, **found} if len(found) == len(computed) else None


def _moved(point: Point, condition: Condition, moved: set[str]) -> Point:
    difference = Node("add", (condition.left, Node("neg", (condition.right,))))
    for name in sorted(free_names(difference) - moved, reverse=True):
        values = [_exact(difference, {**point, name: Fraction(step)}) for step in (1, 2, 3)]
        one, two, three = values
        if one is None or two is None or three is None or two == one or three - two != two - one:
            continue
        moved.add(name)
        return {**point, name: 1 - one / (two - one)}
    return point


def _exact(node: Node, point: Point) -> Fraction | None:
    try:
        value = value_at(node, point)
    except (Undefined, ArithmeticError):
        return None
    return value if isinstance(value, Fraction) else None


def widen(ranges: Ranges, point: Point) -> None:
    """Extend the ranges by a point."""
    for name, value in point.items():
        known = ranges.get(name)
        if known is None:
            ranges[name] = (value, value)
        elif value < known[0]:
            ranges[name] = (value, known[1])
        elif value > known[1]:
            ranges[name] = (known[0], value)


def described(ranges: Ranges) -> str:
    """The ranges in words: `n from 1 to 59, p = 3`. Leaves out values of unknown functions, which the text does not name."""
    shown = [(name, low, high) for name, (low, high) in sorted(ranges.items()) if not name.startswith("@")]
    said = [f"{name} = {low}" if low == high else f"{name} from {low} to {high}" for name, low, high in shown[:MOST_SHOWN]]
    return ", ".join([*said, "…"] if len(shown) > MOST_SHOWN else said)
