"""Computations with SymPy: similarity of two expanded sides, derivatives, and confirmation of every counterexample."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb, prod
from typing import Any

import sympy

from apps.mathcheck.testing.work import METER, SYMPY
from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.tex.tree import Node, free_names, name, number, walk

LARGEST = 160
#: Limits: terms over a common denominator, estimated; exponents; multiples of an angle.
LARGEST_COMMON, HIGHEST_POWER, HIGHEST_MULTIPLE = 400, 1_000, 12
_TRIGONOMETRIC = ("sin", "cos", "tan", "cot", "sec", "csc")
LONGEST_FUNCTION, HIGHEST_ORDER = 80, 4
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{key: getattr(sympy, key) for key in ("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "exp", "sqrt")},
    "arcsin": sympy.asin,
    "arccos": sympy.acos,
    "arctan": sympy.atan,
    "arsinh": sympy.asinh,
    "arcosh": sympy.acosh,
    "artanh": sympy.atanh,
    "ln": sympy.log,
    "abs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "factorial": sympy.factorial,
    "binom": sympy.binomial,
    "gcd": sympy.igcd,
    "lcm": sympy.ilcm,
    "root": sympy.real_root,
    "max": sympy.Max,
    "min": sympy.Min,
    "totient": sympy.totient,
    "log": sympy.log,
    "lg": lambda value: sympy.log(value, 10),
}


def symbolic(node: Node, values: Mapping[str, Fraction] | None = None) -> Any:
    """The expression in SymPy, names as positive symbols or as the given numbers; raises NotUnderstood."""
    if node.op == "num":
        value = Fraction(node.value or 0)
        return sympy.Rational(value.numerator, value.denominator)
    if node.op == "name":
        if values is not None and str(node.value) in values:
            value = values[str(node.value)]
            return sympy.Rational(value.numerator, value.denominator)
        return sympy.Symbol(str(node.value), positive=True)
    if node.op == "const":
        return sympy.pi if node.value == "pi" else sympy.E
    if node.op in ("sum", "prod"):
        return _big(node, values)
    parts = [symbolic(part, values) for part in node.args]
    if node.op == "fn":
        return sympy.sympify(_FUNCTIONS[str(node.value)](*parts))  # gcd and lcm give Python's integers.
    if node.op in _OPERATIONS:
        return _OPERATIONS[node.op](*parts)
    raise NotUnderstood(f"{node.op} has no counterpart")


def _big(node: Node, values: Mapping[str, Fraction] | None) -> Any:
    low, high, body = node.args[:3]
    start, end = symbolic(low, values), symbolic(high, values)
    if not (start.is_Integer and end.is_Integer and end - start <= 600):
        raise NotUnderstood("a sum without numbers as bounds")
    terms = [symbolic(body, {**(values or {}), str(node.value): Fraction(step)}) for step in range(int(start), int(end) + 1)]
    return sympy.Add(*terms) if node.op == "sum" else sympy.Mul(*terms)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda *parts: sympy.Add(*parts),
    "mul": lambda *parts: sympy.Mul(*parts),
    "div": lambda top, bottom: top / bottom,
    "neg": lambda part: -part,
    "pow": lambda base, exponent: base**exponent,
    "degrees": lambda part: part * sympy.pi / 180,
}


def confirms(relation: str, left: Node, right: Node, point: Mapping[str, Fraction]) -> bool:
    """Whether SymPy confirms that `left relation right` fails at the point."""
    METER.spent += SYMPY
    try:
        difference = sympy.sympify(symbolic(left, point) - symbolic(right, point))
        if not difference.is_Rational:
            difference = sympy.N(difference, 60)
        if not difference.is_real or (abs(difference) > 0 and abs(difference) < sympy.Rational(1, 10**40)):
            return False
    except (NotUnderstood, TypeError, ValueError, ArithmeticError):
        return False
    failing = {"=": difference != 0, "<": difference >= 0, r"\le": difference > 0, ">": difference <= 0, r"\ge": difference < 0}
    return bool(failing.get(relation, difference == 0))


def likeness(left: Node, right: Node) -> float:
    """The share of both sides that cancels, 0 to 1: high for a slip in an expansion, low for an equation about unknowns.

    Also 0 if the sides have different names, if nothing was worked out, or if SymPy would take long.
    """
    if free_names(left) != free_names(right) or not free_names(left):
        return 0.0
    if sum(1 for side in (left, right) for _ in walk(side)) > LARGEST or not (_is_worked(left) or _is_worked(right)):
        return 0.0
    written = _terms(left) + _terms(right)
    if written > LARGEST or written < 3 or _takes_long(left, right, written):
        return 0.0
    METER.spent += SYMPY
    try:
        one, two = _opened(symbolic(left)), _opened(symbolic(right))
        rest = sympy.expand(sympy.fraction(sympy.cancel(one - two))[0], trig=True)
        factor = sympy.cancel(one / two)
    except (NotUnderstood, TypeError, ValueError, ArithmeticError):
        return 0.0
    if factor.is_Rational and factor != 0:  # A dropped factor: no condition on the names makes 2x equal to x.
        return 1.0
    if _vanishes_on_equals(rest) or _has_a_root(rest, sympy.together(one)):
        return 0.0
    return max(0.0, 1 - len(sympy.Add.make_args(rest)) / written)


def _takes_long(left: Node, right: Node, written: int) -> bool:
    """Whether SymPy would take seconds: many denominators, high powers, sines of high multiples."""
    denominators, parts = set[Node](), [part for side in (left, right) for part in walk(side)]
    for part in parts:
        if part.op == "div" and free_names(part.args[1]):
            denominators.add(part.args[1])
        if part.op == "pow" and _largest(part.args[1]) > HIGHEST_POWER:
            return True
        if part.op == "fn" and part.value in _TRIGONOMETRIC and _largest(part.args[0]) > HIGHEST_MULTIPLE:
            return True
    return written * prod(min(_terms(one), 2) for one in denominators) > LARGEST_COMMON


def _largest(node: Node) -> Fraction:
    """The largest absolute value of a number in an expression, at least 0."""
    return max((abs(Fraction(part.value or 0)) for part in walk(node) if part.op == "num"), default=Fraction(0))


def _opened(expression: Any) -> Any:
    return sympy.expand_func(expression) if expression.has(sympy.binomial) else expression


def _vanishes_on_equals(rest: Any) -> bool:
    """Whether the difference is zero if two names are equal; it may then be an equation from which their equality follows."""
    names = sorted(rest.free_symbols, key=str)
    return any(sympy.expand(rest.subs(one, two)) == 0 for place, one in enumerate(names) for two in names[place + 1 :])


def _has_a_root(rest: Any, side: Any) -> bool:
    """Whether a difference in one name has a root where the sides are not zero; it may then be an equation to solve.

    The root 0 does not count: after most slips in an expansion the difference is zero there.
    """
    names = rest.free_symbols
    if len(names) != 1:
        return False
    try:
        left = sympy.Poly(rest, *names, domain="QQ")
        for factor in (sympy.Poly(sympy.fraction(side)[0], *names, domain="QQ"), sympy.Poly(*names, *names, domain="QQ")):
            while not left.is_zero and (common := left.gcd(factor)).degree() > 0:
                left = left.quo(common)
        return bool(left.degree() > 0 and left.count_roots() > 0)
    except (sympy.PolynomialError, sympy.CoercionFailed, ValueError, ArithmeticError):
        return False


def _is_worked(node: Node) -> bool:
    """Whether it can be expanded: a product or power of sums, a fraction of them, or a sum of three terms."""
    if node.op == "add" and len(node.args) >= 3 and len(free_names(node)) == 1 and all(part.op == "mul" for part in node.args):
        return True
    shaped = (part for part in walk(node) if part.op in ("mul", "pow", "fn", "div"))
    return any(inner.op == "add" for part in shaped for inner in part.args)


def _terms(node: Node) -> int:
    """The number of terms after expansion."""
    if node.op == "add":
        return sum(_terms(part) for part in node.args)
    if node.op == "mul":
        result = 1
        for part in node.args:
            result *= _terms(part)
        return result
    if node.op == "neg":
        return _terms(node.args[0])
    if node.op == "div":
        return _terms(node.args[0]) + _terms(node.args[1]) - 1
    exponent = node.args[1].value if node.op == "pow" and node.args[1].op == "num" else None
    base = _terms(node.args[0]) if isinstance(exponent, Fraction) else 1
    if isinstance(exponent, Fraction) and exponent.denominator == 1 and 0 < exponent <= 12:
        return min(comb(base + int(exponent) - 1, int(exponent)), 10 * LARGEST)
    return 1 if base == 1 else 10 * LARGEST


def derivative(node: Node, variable: str, order: int = 1) -> Node:
    """The derivative as a `Node`; raises NotUnderstood."""
    if order > HIGHEST_ORDER or sum(1 for _ in walk(node)) > LONGEST_FUNCTION:
        raise NotUnderstood("a derivative of a high order or of a long function")
    METER.spent += SYMPY
    try:
        found = sympy.diff(symbolic(node), sympy.Symbol(variable, positive=True), order)
        return _back(found)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise NotUnderstood("no derivative was found") from error


def _back(expression: Any) -> Node:
    if expression.is_Rational:
        return number(Fraction(int(expression.p), int(expression.q)))
    if expression.is_Symbol:
        return name(str(expression))
    if expression in (sympy.pi, sympy.E):
        return Node("const", value="pi" if expression == sympy.pi else "e")
    parts = tuple(_back(part) for part in expression.args)
    if expression.is_Add:
        return Node("add", parts)
    if expression.is_Mul:
        return Node("mul", parts)
    if expression.is_Pow:
        return Node("pow", parts)
    function = next((key for key, value in _FUNCTIONS.items() if value is expression.func), None)
    if function is None:
        raise NotUnderstood("a derivative with an unknown function")
    return Node("fn", parts, function)
