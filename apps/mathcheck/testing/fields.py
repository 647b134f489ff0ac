"""Tests in finite fields, for equations that no rational point of the grid satisfies: $x^2=x+1$, or $x+y=5$ with $xy=4$.

An equation between rational expressions that follows from others also follows in almost every finite field. So it is tested at
the points there that satisfy the others. A failure proves nothing, because the claim may need an order or a root that the field
lacks. Other expressions (a root, a power with a name in it) become names; equal expressions get the same name.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.work import METER
from apps.mathcheck.tex.tree import Node, walk

Residues = Sequence[int]
Compute = Callable[[Residues, int], int]
#: Primes by the number of names: small enough to try every point, and several, so that no law of a single field counts.
PRIMES = {
    1: (29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113),
    2: (13, 17, 19, 23, 29, 31),
    3: (7, 11, 13, 17),
}
LARGER = (19, 23, 29)
MOST_NAMES, MOST_DEGREE = 7, 6
LEAST, ENOUGH, LEAST_FIELDS = 12, 40, 2
_TRIES = 24
#: Nodes for one operation of work: arithmetic with residues is fast.
NODES_PER_OPERATION = 4


def passes_in_fields(claim: Condition, conditions: Sequence[Condition]) -> int | None:
    """The number of points in several fields that satisfy the equations of `conditions` and the claim.

    None if the claim fails at one of them; 0 if there are too few or the claim is not an equation.
    """
    equations = [one for one in conditions if one.relation == "=" and one.modulus is None]
    if claim.relation != "=" or claim.modulus is not None or not equations:
        return 0
    names: dict[Node, int] = {}
    try:
        wanted = _difference(claim, names)
        given = [_difference(one, names) for one in equations]
    except _TooLarge:
        return 0
    if not 0 < len(names) <= MOST_NAMES:
        return 0
    passed, fields = 0, 0
    for prime in PRIMES.get(len(names), LARGER):
        here = _passed(wanted, given, len(names), prime)
        if here is None:
            return None
        passed, fields = passed + here, fields + bool(here)
        if METER.is_over:
            break
    return passed if passed >= LEAST and fields >= LEAST_FIELDS else 0


def _passed(wanted: Compute, given: Sequence[Compute], size: int, prime: int) -> int | None:
    """The number of points of one field that it passes; None if it fails."""
    passed = 0
    for point in _points(given, size, prime):
        try:
            if wanted(point, prime):
                return None
        except ZeroDivisionError:
            continue
        passed += 1
        if passed >= ENOUGH:
            break
    return passed


def _points(given: Sequence[Compute], size: int, prime: int) -> Iterator[Residues]:
    """Points that satisfy all equations: every one if there are few names, else some found by changing names."""
    if size in PRIMES:
        for point in itertools.product(range(prime), repeat=size):
            if METER.is_over:
                return
            if _meets(given, point, prime):
                yield point
        return
    source = random.Random(prime)  # noqa: S311
    seen = set[tuple[int, ...]]()
    for _ in range(_TRIES):
        if METER.is_over:
            return
        found = _moved([source.randrange(prime) for _ in range(size)], given, prime, source)
        if tuple(found) not in seen and _meets(given, found, prime):
            seen.add(tuple(found))
            yield found


def _moved(point: list[int], given: Sequence[Compute], prime: int, source: random.Random) -> list[int]:
    """The point with one name changed to a root for each unsatisfied equation, each name at most once."""
    free = list(range(len(point)))
    source.shuffle(free)
    for equation in given:
        if _meets([equation], point, prime):
            continue
        for place in free:
            roots = [value for value in range(prime) if _meets([equation], _with(point, place, value), prime)]
            if 0 < len(roots) < prime:
                point = _with(point, place, source.choice(roots))
                free.remove(place)
                break
    return point


def _with(point: list[int], place: int, value: int) -> list[int]:
    return [*point[:place], value, *point[place + 1 :]]


def _meets(given: Sequence[Compute], point: Residues, prime: int) -> bool:
    try:
        return not any(equation(point, prime) for equation in given)
    except ZeroDivisionError:
        return False


class _TooLarge(Exception):
    """There are more names than can be tried."""


def _difference(one: Condition, names: dict[Node, int]) -> Compute:
    left, right = _compute(one.left, names), _compute(one.right, names)
    operations = 1 + sum(1 for side in (one.left, one.right) for _ in walk(side)) // NODES_PER_OPERATION

    def difference(point: Residues, prime: int) -> int:
        METER.spent += operations
        return (left(point, prime) - right(point, prime)) % prime

    return difference


def _compute(node: Node, names: dict[Node, int]) -> Compute:
    """The expression as a function of residues, which raises ZeroDivisionError if it has no value."""
    if node.op == "num":
        value = node.value
        assert isinstance(value, Fraction)
        return lambda _, prime: value.numerator * _inverse(value.denominator, prime) % prime
    parts = [_compute(part, names) for part in node.args] if node.op in ("add", "mul", "neg", "div") else []
    if node.op == "add":
        return lambda point, prime: sum(part(point, prime) for part in parts) % prime
    if node.op == "neg":
        return lambda point, prime: -parts[0](point, prime) % prime
    if node.op == "div":
        return lambda point, prime: parts[0](point, prime) * _inverse(parts[1](point, prime), prime) % prime
    if node.op == "mul":
        return lambda point, prime: _product(parts, point, prime)
    if node.op == "pow" and (power := _power(node.args[1])) is not None:
        base = _compute(node.args[0], names)
        return lambda point, prime: pow(
            base(point, prime) if power > 0 else _inverse(base(point, prime), prime), abs(power), prime
        )
    place = names.setdefault(node, len(names))
    if len(names) > MOST_NAMES:
        raise _TooLarge
    return lambda point, _: point[place]


def _product(parts: Sequence[Compute], point: Residues, prime: int) -> int:
    found = 1
    for part in parts:
        found = found * part(point, prime) % prime
    return found


def _power(node: Node) -> int | None:
    """A small whole exponent. With a large one, laws that hold in a single field would count."""
    if node.op == "neg":
        inner = _power(node.args[0])
        return None if inner is None else -inner
    if node.op != "num" or not isinstance(node.value, Fraction) or node.value.denominator != 1 or not node.value:
        return None
    return int(node.value) if abs(node.value) <= MOST_DEGREE else None


def _inverse(value: int, prime: int) -> int:
    if value % prime == 0:
        raise ZeroDivisionError
    return pow(value, -1, prime)
