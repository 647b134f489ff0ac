r"""Slips with integer parts: a factor pulled out of them, as in `\lfloor 2q/p\rfloor = 2\lfloor q/p\rfloor`."""

import random
from fractions import Fraction

from apps.mathcheck.scope import Condition
from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined, holds
from apps.mathcheck.tex.tree import Node, rebuilt, walk

ROUNDING = ("floor", "ceil")
_POINTS = 4


def is_pulled_out_of_floors(variant: Condition) -> bool:
    """Whether both sides have integer parts and are equal for all values without them."""
    sides = (variant.left, variant.right)
    if variant.relation != "=" or variant.modulus is not None or not all(_functions(side) == {"floor"} for side in sides):
        return False
    left, right = (_opened(side) for side in sides)
    source, names = random.Random(3), sorted(variant.names)  # noqa: S311
    for _ in range(_POINTS):
        point = {name: Fraction(source.randint(2, 99), source.randint(2, 99)) for name in names}
        try:
            if holds("=", value_at(left, point), value_at(right, point)) is not True:
                return False
        except (Undefined, ArithmeticError):
            return False
    return True


def _functions(side: Node) -> set[str]:
    return {"floor" if part.value in ROUNDING else str(part.value) for part in walk(side) if part.op == "fn"}


def _opened(side: Node) -> Node:
    return rebuilt(side, lambda part: _opened(part.args[0]) if part.op == "fn" else None)
