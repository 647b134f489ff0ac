"""Test points: small numbers exhaustively, simple ones first, then random ones, all within the domains and conditions."""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from workers.mathcheck.evaluating import Undefined, value_at
from workers.mathcheck.scope import Condition, Domain, Scope
from workers.mathcheck.tree import Node, free_names

Point = dict[str, Fraction]
#: How many values of the pool each name runs through, by the number of names.
WIDTHS = {1: 60, 2: 14, 3: 7, 4: 5, 5: 3, 6: 3}
RANDOM_POINTS = 120
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


def points(
    scope: Scope, names: Sequence[str], domains: dict[str, Domain], is_over: Callable[[], bool], seed: int = 0
) -> Iterator[Point]:
    """Points that satisfy all conditions on the names; possibly none. They end when `is_over` says so."""
    conditions = scope.relevant(frozenset(names))
    everything = sorted(set(names).union(*(condition.names for condition in conditions)) if conditions else set(names))
    if any(name.endswith(")") for name in everything) or len(conditions) > 14 or len(everything) > 8:
        return
    pools = {name: pool(domains.get(name, scope.domain(name))) for name in everything}
    for raw in _raw(everything, pools, seed):
        if is_over():
            return
        point = _fitted(raw, conditions, {name: domains.get(name, scope.domain(name)) for name in everything})
        if point is not None:
            yield point


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


def _fitted(point: Point, conditions: Sequence[Condition], domains: dict[str, Domain]) -> Point | None:
    """The point, moved along one name for every equation that is linear in it; None where a condition fails."""
    moved: set[str] = set()
    for condition in conditions:
        if condition.relation == "=" and condition.modulus is None and condition.at(point) is not True:
            point = _moved(point, condition, moved)
    fits = all(domains[name].contains(value) for name, value in point.items())
    return point if fits and all(condition.at(point) is True for condition in conditions) else None


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
