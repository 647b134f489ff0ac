"""Values of expressions at a point: names take their numbers, and the tree is folded by `values` and `functions`."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce

from mpmath import iv

from apps.mathcheck.testing.functions import apply
from apps.mathcheck.testing.values import Undefined, Value, divided, integer, plus, power, times
from apps.mathcheck.testing.work import METER, spend
from apps.mathcheck.tex.tree import Node

LONGEST_SUM = 600


def value_at(node: Node, point: Mapping[str, Fraction]) -> Value:
    """The value at a point (name → number); raises Undefined, and OutOfWork in a long sum or with large numbers."""
    METER.spent += 1
    return _OPERATIONS[node.op](node, point) if node.op in _OPERATIONS else _unknown(node)


def value_or_none(node: Node, point: Mapping[str, Fraction]) -> Value | None:
    """The value at a point; None if there is none."""
    try:
        return value_at(node, point)
    except (Undefined, ArithmeticError):
        return None


def constant(node: Node) -> Fraction | None:
    """The exact value of an expression without names; None if it has names or no exact value."""
    try:
        value = value_at(node, {})
    except (Undefined, ArithmeticError):
        return None
    return value if isinstance(value, Fraction) else None


def _unknown(node: Node) -> Value:
    raise Undefined(f"{node.op} has no value")


def _name(node: Node, point: Mapping[str, Fraction]) -> Value:
    try:
        return point[str(node.value)]
    except KeyError:
        raise Undefined(f"{node.value} is unknown") from None


def _add(node: Node, point: Mapping[str, Fraction]) -> Value:
    return reduce(plus, (value_at(part, point) for part in node.args))


def _mul(node: Node, point: Mapping[str, Fraction]) -> Value:
    return reduce(times, (value_at(part, point) for part in node.args))


def _div(node: Node, point: Mapping[str, Fraction]) -> Value:
    return divided(value_at(node.args[0], point), value_at(node.args[1], point))


def _neg(node: Node, point: Mapping[str, Fraction]) -> Value:
    return -value_at(node.args[0], point)


def _pow(node: Node, point: Mapping[str, Fraction]) -> Value:
    return power(value_at(node.args[0], point), value_at(node.args[1], point))


def _function(node: Node, point: Mapping[str, Fraction]) -> Value:
    return apply(str(node.value), [value_at(part, point) for part in node.args])


def _degrees(node: Node, point: Mapping[str, Fraction]) -> Value:
    return times(value_at(node.args[0], point), iv.pi / 180)


def _binder(node: Node, point: Mapping[str, Fraction]) -> Value:
    low, high = (integer(value_at(part, point)) for part in node.args[:2])
    if len(node.args) > 3 and high < integer(value_at(node.args[3], point)):
        raise Undefined("fewer terms than were written")
    if high - low > LONGEST_SUM or high < low - 1:
        raise Undefined("a sum that is too long or runs backwards")
    body, bound = node.args[2], str(node.value)
    spend(high - low + 1)
    values = (_term(body, {**point, bound: Fraction(step)}) for step in range(low, high + 1))
    return reduce(plus, values, Fraction(0)) if node.op == "sum" else reduce(times, values, Fraction(1))


def _term(body: Node, point: Mapping[str, Fraction]) -> Value:
    spend(1)
    return value_at(body, point)


def _constant(node: Node, _point: Mapping[str, Fraction]) -> Value:
    return +iv.pi if node.value == "pi" else iv.exp(iv.mpf(1))


_OPERATIONS: dict[str, Callable[[Node, Mapping[str, Fraction]], Value]] = {
    "num": lambda node, _point: node.value,
    "name": _name,
    "const": _constant,
    "add": _add,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow": _pow,
    "fn": _function,
    "degrees": _degrees,
    "sum": _binder,
    "prod": _binder,
}
