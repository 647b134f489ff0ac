"""Strict inequalities on bounded boxes: interval arithmetic on ever smaller boxes."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from mpmath import iv

from apps.mathcheck.proving.calculus.derivatives import derivative
from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined, interval
from apps.mathcheck.testing.work import METER, OutOfWork, spend
from apps.mathcheck.tex.tree import Node, walk

#: Most boxes, and most halvings of one box.
MOST_BOXES, MOST_HALVINGS = 400, 24
#: Operations for one node on intervals.
PER_NODE = 12
Box = Mapping[str, tuple[Fraction, Fraction]]


def boxes_needed(node: Node, box: Box) -> int | None:
    """The number of boxes on each of which intervals show that the expression has a value and is positive; None without."""
    slopes = {key: derivative(node, key) for key in box}
    size = sum(1 for _ in walk(node))
    waiting, shown = [(dict(box), 0)], 0
    while waiting:
        current, halvings = waiting.pop()
        spend(PER_NODE * size)
        if _is_positive(node, slopes, current):
            shown += 1
            continue
        if halvings >= MOST_HALVINGS * len(box) or shown + len(waiting) > MOST_BOXES:
            return None
        key = max(current, key=lambda one: (current[one][1] - current[one][0], one))
        low, high = current[key]
        middle = (low + high) / 2
        waiting += [({**current, key: (middle, high)}, halvings + 1), ({**current, key: (low, middle)}, halvings + 1)]
    return shown


def enclosure(node: Node, box: Box) -> Any | None:
    """An interval with all values on a box; None if a value may be missing."""
    try:
        return interval(value_at(node, {key: _range(*ends) for key, ends in box.items()}))
    except OutOfWork:
        raise
    except (Undefined, ArithmeticError, ValueError, TypeError):
        return None


def _range(low: Fraction, high: Fraction) -> Any:
    if low == high:
        return low
    return iv.mpf([interval(low).a, interval(high).b])


def _is_positive(node: Node, slopes: Mapping[str, Node | None], box: Box) -> bool:
    found = enclosure(node, box)
    if found is None:
        return False
    if found.a > 0:
        return True
    return bool(found.b > 0) and _by_slopes(node, slopes, box)


def _by_slopes(node: Node, slopes: Mapping[str, Node | None], box: Box) -> bool:
    """The mean value theorem: the value in the middle, and the slopes times the distances. The node has a value on the box."""
    METER.spent += PER_NODE * 4
    total = enclosure(node, {key: ((low + high) / 2,) * 2 for key, (low, high) in box.items()})
    for key, (low, high) in box.items():
        slope = slopes[key]
        steep = enclosure(slope, box) if slope is not None else None
        if total is None or steep is None:
            return False
        half = (high - low) / 2
        total = total + steep * _range(-half, half)
    return total is not None and bool(total.a > 0)
