"""Expressions with whole numbers only, their residues, and whole exponents."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod

from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined, integer
from apps.mathcheck.tex.tree import Node, free_names, number, walk

LARGEST_MODULUS = 2_000
Point = Mapping[str, int]


class NotPeriodic(Exception):
    """The expression is not of the shape that repeats, or its period is too long."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """An expression as `whole / scale`, where `whole` has whole numbers only."""

    whole: Node
    scale: int


def minus(left: Node, right: Node) -> Node:
    """The difference."""
    return left if right == number(0) else Node("add", (left, Node("neg", (right,))))


def number_of(node: Node) -> int:
    """The size of a whole number that may be a modulus. Raises `NotPeriodic`."""
    if free_names(node):
        raise NotPeriodic
    try:
        value = abs(integer(value_at(node, {})))
    except (Undefined, ArithmeticError):
        raise NotPeriodic from None
    if not 1 <= value <= LARGEST_MODULUS:
        raise NotPeriodic
    return value


def is_clear(node: Node) -> bool:
    """Whether it has whole numbers only."""
    try:
        return cleared(node).scale == 1
    except NotPeriodic:
        return False


def cleared(node: Node) -> Cleared:
    """The expression without fractions. Raises `NotPeriodic`."""
    if node.op == "name":
        return Cleared(node, 1)
    if node.op == "num":
        value = Fraction(node.value or 0)
        return Cleared(number(value.numerator), value.denominator)
    if node.op == "div":
        top, divisor = cleared(node.args[0]), number_of(node.args[1])
        sign = 1 if value_at(node.args[1], {}) > 0 else -1
        return Cleared(top.whole if sign > 0 else Node("neg", (top.whole,)), top.scale * divisor)
    if node.op == "pow":
        base, exponent = cleared(node.args[0]), node.args[1]
        if exponent.op == "num":
            times = Fraction(exponent.value or 0)
            if times.denominator != 1 or not 0 <= times <= 200:
                raise NotPeriodic
            return Cleared(Node("pow", (base.whole, exponent)), base.scale ** int(times))
        if base.scale != 1 or not all(part.op in ("name", "num", "add", "mul", "neg") for part in walk(exponent)):
            raise NotPeriodic
        return Cleared(Node("pow", (base.whole, exponent)), 1)
    parts = [cleared(part) for part in node.args]
    if node.op == "neg":
        return Cleared(Node("neg", (parts[0].whole,)), parts[0].scale)
    if node.op == "mul":
        return Cleared(Node("mul", tuple(part.whole for part in parts)), prod(part.scale for part in parts))
    if node.op == "add":
        scale = lcm(*(part.scale for part in parts))
        raised = (Node("mul", (number(scale // part.scale), part.whole)) for part in parts)
        return Cleared(Node("add", tuple(raised)), scale)
    raise NotPeriodic


def residue(node: Node, point: Point, modulus: int) -> int:
    """The value of a cleared expression modulo a number."""
    if node.op == "num":
        return int(Fraction(node.value or 0)) % modulus
    if node.op == "name":
        return point[str(node.value)] % modulus
    if node.op == "pow":
        return pow(residue(node.args[0], point, modulus), exponent(node.args[1], point), modulus)
    values = [residue(part, point, modulus) for part in node.args]
    if node.op == "neg":
        return -values[0] % modulus
    return (sum(values) if node.op == "add" else prod(values)) % modulus


def exponent(node: Node, point: Point) -> int:
    """The whole value of an exponent, at least 0. Raises `NotPeriodic`."""
    try:
        value = integer(value_at(node, {key: Fraction(value) for key, value in point.items()}))
    except (Undefined, ArithmeticError):
        raise NotPeriodic from None
    if value < 0:
        raise NotPeriodic
    return value


def slope(node: Node, key: str) -> int:
    """The constant by which a linear exponent grows with a name. Raises `NotPeriodic` if it is not linear or falls."""
    if not is_linear(node):
        raise NotPeriodic
    point = dict.fromkeys(free_names(node), 20)
    return exponent(node, {**point, key: 21}) - exponent(node, point)


def is_linear(node: Node) -> bool:
    if node.op == "mul" and sum(bool(free_names(part)) for part in node.args) > 1:
        return False
    return all(is_linear(part) for part in node.args)
