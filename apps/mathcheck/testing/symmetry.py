"""Signs that an inequality needs no further condition: it scales with its names, and it fails for them in any order."""

from fractions import Fraction
from itertools import permutations

from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.evaluating import value_or_none
from apps.mathcheck.testing.sampling import Point
from apps.mathcheck.testing.values import holds, times


def scales(variant: Condition) -> bool:
    """Whether both sides scale equally with all names, so that no condition such as abc = 1 was needed."""
    point = {name: Fraction(place + 2) for place, name in enumerate(sorted(variant.names))}
    double = {name: 2 * value for name, value in point.items()}
    one, other = value_or_none(variant.left, double), value_or_none(variant.right, point)
    three, last = value_or_none(variant.right, double), value_or_none(variant.left, point)
    if one is None or other is None or three is None or last is None:
        return False
    return holds("=", times(one, other), times(three, last)) is True


def fails_in_any_order(variant: Condition, point: Point) -> bool:
    """Whether it fails at the point, whichever name has which of its values."""
    names = sorted(variant.names)
    if len(names) > 4:
        return False
    return all(
        variant.at(dict(zip(names, order, strict=True))) is False for order in permutations([point[name] for name in names])
    )
