"""Derivatives of expressions in one name, by the usual rules and without any simplification that needs a domain."""

from collections.abc import Callable
from fractions import Fraction

from apps.mathcheck.tex.tree import Node, free_names, number

ZERO, ONE = number(0), number(1)
LONGEST = 400


def plus(*parts: Node) -> Node:
    """The sum, without zeros."""
    kept = tuple(part for part in parts if part != ZERO)
    return ZERO if not kept else kept[0] if len(kept) == 1 else Node("add", kept)


def minus(part: Node) -> Node:
    """The negative."""
    return ZERO if part == ZERO else part.args[0] if part.op == "neg" else Node("neg", (part,))


def times(*parts: Node) -> Node:
    """The product, without ones."""
    kept = tuple(part for part in parts if part != ONE)
    if ZERO in kept:
        return ZERO
    return ONE if not kept else kept[0] if len(kept) == 1 else Node("mul", kept)


def over(top: Node, bottom: Node) -> Node:
    """The quotient."""
    return ZERO if top == ZERO else Node("div", (top, bottom))


def power(base: Node, exponent: Fraction) -> Node:
    """The power with a number as exponent."""
    return base if exponent == 1 else ONE if exponent == 0 else Node("pow", (base, number(exponent)))


def call(function: str, *parts: Node) -> Node:
    """The value of a function."""
    return Node("fn", parts, function)


#: The derivatives of the functions that are smooth wherever `signs` says that they are.
OUTER: dict[str, Callable[[Node], Node]] = {
    "exp": lambda u: call("exp", u),
    "ln": lambda u: over(ONE, u),
    "sqrt": lambda u: over(ONE, times(number(2), call("sqrt", u))),
    "sin": lambda u: call("cos", u),
    "cos": lambda u: minus(call("sin", u)),
    "tan": lambda u: over(ONE, power(call("cos", u), Fraction(2))),
    "sinh": lambda u: call("cosh", u),
    "cosh": lambda u: call("sinh", u),
    "tanh": lambda u: over(ONE, power(call("cosh", u), Fraction(2))),
    "arctan": lambda u: over(ONE, plus(ONE, power(u, Fraction(2)))),
}


def derivative(node: Node, key: str) -> Node | None:
    """The derivative; None if a part has no rule here."""
    if key not in free_names(node):
        return ZERO
    if node.op == "name":
        return ONE
    inner = [derivative(part, key) for part in node.args]
    if any(part is None for part in inner):
        return None
    return _RULES[node.op](node, [part for part in inner if part is not None]) if node.op in _RULES else None


def _product(node: Node, inner: list[Node]) -> Node:
    args = node.args
    return plus(*(times(slope, *args[:at], *args[at + 1 :]) for at, slope in enumerate(inner)))


def _quotient(node: Node, inner: list[Node]) -> Node:
    top, bottom = node.args
    if inner[1] == ZERO:
        return over(inner[0], bottom)
    return over(plus(times(inner[0], bottom), minus(times(top, inner[1]))), power(bottom, Fraction(2)))


def _power(node: Node, inner: list[Node]) -> Node:
    base, exponent = node.args
    if exponent.op == "num":
        value = Fraction(exponent.value or 0)
        return times(number(value), power(base, value - 1), inner[0])
    grown = times(node, call("ln", base), inner[1]) if base != Node("const", value="e") else times(node, inner[1])
    return grown if inner[0] == ZERO else plus(grown, over(times(node, exponent, inner[0]), base))


def _function(node: Node, inner: list[Node]) -> Node | None:
    if node.value not in OUTER or len(node.args) != 1:
        return None
    return times(OUTER[str(node.value)](node.args[0]), inner[0])


_RULES: dict[str, Callable[[Node, list[Node]], Node | None]] = {
    "add": lambda _node, inner: plus(*inner),
    "neg": lambda _node, inner: minus(inner[0]),
    "mul": _product,
    "div": _quotient,
    "pow": _power,
    "fn": _function,
}
