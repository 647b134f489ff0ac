"""Normal forms of roots, sines and cosines, factorials, binomial coefficients and other functions."""

from collections.abc import Callable
from fractions import Fraction
from math import factorial
from typing import TYPE_CHECKING

from sympy import QQ, Symbol

from apps.mathcheck.proving.normal.forms import NoNormalForm, Poly, Quotient, Relation, constant_of, factored, is_constant
from apps.mathcheck.tex.tree import Node

if TYPE_CHECKING:
    from apps.mathcheck.proving.normal.algebra import Algebra

HIGHEST_FACTORIAL, HIGHEST_BINOMIAL, HIGHEST_MULTIPLE = 60, 12, 8


def root(algebra: "Algebra", base: Node, degree: int) -> Quotient:
    form = algebra.of(base)
    if is_constant(form.top) and is_constant(form.bottom):
        value = constant_of(form.top) / constant_of(form.bottom)
        if value < 0:
            raise NoNormalForm("a root of a negative number")
        total = algebra.number(Fraction(1))
        for prime, times in factored(value):
            whole, rest = divmod(times, degree)
            total = algebra.product(total, algebra.number(Fraction(prime) ** whole))
            if rest:
                one = algebra.generator(f"root({prime}, {degree})", _of_number(algebra, Fraction(prime), degree))
                total = algebra.product(total, algebra.whole(one**rest))
        return total if value else algebra.number(Fraction(0))
    scale = constant_of(form.bottom) if is_constant(form.bottom) else Fraction(0)
    if scale <= 0:
        raise NoNormalForm("a root of a fraction")
    # The root of u/c is that of u*c^(d-1), divided by c.
    raised = scale ** (degree - 1)
    factor = QQ(raised.numerator, raised.denominator)
    top = form.top * factor
    if degree % 2 == 0:
        algebra.not_negative.append(algebra.reduced(top))
    key = f"root({algebra.key_of(algebra.whole(top))}, {degree})"
    found = algebra.whole(algebra.generator(key, lambda: Relation(degree, algebra.of(base).top * factor)))
    return algebra.product(found, algebra.number(1 / scale))


def _of_number(algebra: "Algebra", value: Fraction, degree: int) -> Callable[[], Relation]:
    return lambda: Relation(degree, algebra.number(value).top)


def function(algebra: "Algebra", node: Node) -> Quotient:
    name = str(node.value)
    if name == "sqrt":
        return root(algebra, node.args[0], 2)
    if name == "root" and node.args[1].op == "num":
        return root(algebra, node.args[0], int(Fraction(node.args[1].value or 0)))
    if name == "factorial":
        return _factorial(algebra, node.args[0])
    if name == "binom":
        return _binomial(algebra, node)
    if name in ("sin", "cos", "tan"):
        return _angle(algebra, name, node.args[0])
    if name == "ln":
        return _logarithm(algebra, node)
    if name == "log" and len(node.args) == 2:
        both = [_logarithm(algebra, Node("fn", (part,), "ln")) for part in node.args]
        return algebra.product(both[0], algebra.inverse(both[1]))
    forms = [algebra.of(part) for part in node.args]
    if name == "abs":
        squared = forms[0]
        if squared.bottom == 1:
            key = f"abs({algebra.key_of(squared)})"
            return algebra.whole(algebra.generator(key, lambda: Relation(2, _squared(algebra, node.args[0]))))
    return algebra.whole(algebra.generator(f"{name}({', '.join(algebra.key_of(form) for form in forms)})"))


def _squared(algebra: "Algebra", node: Node) -> Poly:
    top = algebra.of(node).top
    return algebra.times(top, top)


def _angle(algebra: "Algebra", name: str, argument: Node) -> Quotient:
    """Sines and cosines of sums and whole multiples by the addition formulas."""
    form = algebra.of(argument)
    if not is_constant(form.bottom):
        raise NoNormalForm("an angle that is a fraction")
    angle = form.top.mul_ground(1 / form.bottom.coeff(1))
    sine, cosine = algebra.whole(algebra.ring.zero), algebra.whole(algebra.ring.one)
    for monomial, factor in sorted(angle.iterterms()):
        value = Fraction(int(factor.numerator), int(factor.denominator))
        if not sum(monomial):
            raise NoNormalForm("an angle with a number")
        is_turn = algebra.ring({monomial: QQ(1)}).as_expr() == Symbol("pi()")
        if is_turn and value.denominator in (*_TURNS, 5):
            value %= 2
        if abs(value.numerator) > HIGHEST_MULTIPLE and not is_turn:
            raise NoNormalForm("a high multiple of an angle")
        if is_turn and value.denominator in (*_TURNS, 5):
            one, two = _turn(algebra, value.denominator)
        else:
            part = algebra.ring({monomial: QQ(1, value.denominator)})
            one, two = _simple_angle(algebra, str(part.as_expr()))
        for _ in range(abs(value.numerator)):
            s = one if value > 0 else Quotient(-one.top, one.bottom)
            sine, cosine = (
                algebra.whole(algebra.times(sine.top, two.top) + algebra.times(cosine.top, s.top)),
                algebra.whole(algebra.times(cosine.top, two.top) - algebra.times(sine.top, s.top)),
            )
    if name == "tan":
        return algebra.product(sine, algebra.inverse(cosine))
    return sine if name == "sin" else cosine


#: Twice the sine and the cosine of π/q, squared, with the sign.
_TURNS = {1: (0, -4), 2: (4, 0), 3: (3, 1), 4: (2, 2), 6: (1, 3)}


def _turn(algebra: "Algebra", parts: int) -> tuple[Quotient, Quotient]:
    """The sine and cosine of π/parts."""
    if parts == 5:
        sine = algebra.generator("sin(pi/5)", lambda: Relation(2, QQ(3, 4) - algebra.generator("cos(pi/5)") * QQ(1, 2)))
        cosine = algebra.generator("cos(pi/5)", lambda: Relation(2, algebra.generator("cos(pi/5)") * QQ(1, 2) + QQ(1, 4)))
        return algebra.whole(sine), algebra.whole(cosine)
    found = []
    for squared in _TURNS[parts]:
        size = root(algebra, Node("num", value=Fraction(abs(squared), 4)), 2)
        found.append(size if squared >= 0 else Quotient(-size.top, size.bottom))
    return found[0], found[1]


def _logarithm(algebra: "Algebra", node: Node) -> Quotient:
    """`ln` of a product as a sum, if every factor is a positive name or a prime number."""
    form, total = algebra.of(node.args[0]), algebra.number(Fraction(0))
    for poly, sign in ((form.top, 1), (form.bottom, -1)):
        if len(poly) != 1:
            return algebra.whole(algebra.generator(f"ln({algebra.key_of(form)})"))
        ((monomial, factor),) = poly.iterterms()
        value = Fraction(int(factor.numerator), int(factor.denominator))
        keys = [(algebra.names()[place], times) for place, times in enumerate(monomial) if times]
        if value <= 0 or any(not algebra.is_positive_name(key) for key, _ in keys):
            return algebra.whole(algebra.generator(f"ln({algebra.key_of(form)})"))
        for key, times in [*((str(prime), times) for prime, times in factored(value)), *keys]:
            one = algebra.generator(f"ln({key})")
            total = Quotient(total.top + one * (sign * times), total.bottom)
    return total


def _simple_angle(algebra: "Algebra", shown: str) -> tuple[Quotient, Quotient]:
    sine = algebra.generator(f"sin({shown})")
    cosine = algebra.generator(f"cos({shown})", lambda: Relation(2, algebra.ring.one - algebra.generator(f"sin({shown})") ** 2))
    return algebra.whole(sine), algebra.whole(cosine)


def _factorial(algebra: "Algebra", argument: Node) -> Quotient:
    form = algebra.of(argument)
    if form.bottom != 1:
        raise NoNormalForm("a factorial of a fraction")
    shift = constant_of(form.top)
    if is_constant(form.top):
        if shift.denominator != 1 or not 0 <= shift <= HIGHEST_FACTORIAL:
            raise NoNormalForm("a factorial out of bounds")
        return algebra.number(Fraction(factorial(int(shift))))
    if shift.denominator != 1 or abs(shift) > HIGHEST_FACTORIAL:
        raise NoNormalForm("a factorial of a fraction")
    start = form.top - int(shift)
    total = algebra.whole(algebra.generator(f"({algebra.key_of(algebra.whole(start))})!"))
    for step in range(1, int(shift) + 1):
        total = algebra.product(total, algebra.whole(start + step))
    for step in range(0, int(shift), -1):
        total = algebra.product(total, algebra.inverse(algebra.whole(start + step)))
    return total


def _binomial(algebra: "Algebra", node: Node) -> Quotient:
    """`binom(n, k)` for a small number k, which is a polynomial in n for every whole n ≥ 0."""
    bottom = algebra.of(node.args[1])
    if bottom.bottom != 1 or not is_constant(bottom.top):
        return algebra.whole(algebra.generator(f"binom({', '.join(algebra.key_of(algebra.of(part)) for part in node.args)})"))
    count = constant_of(bottom.top)
    if count.denominator != 1 or not 0 <= count <= HIGHEST_BINOMIAL:
        raise NoNormalForm("a binomial coefficient out of bounds")
    top, total = algebra.of(node.args[0]), algebra.number(Fraction(1, factorial(int(count))))
    if top.bottom != 1:
        raise NoNormalForm("a binomial coefficient of a fraction")
    _expect_whole(algebra, top.top)
    algebra.not_negative.append(algebra.reduced(top.top))
    for step in range(int(count)):
        total = algebra.product(total, Quotient(top.top - step * top.bottom, top.bottom))
    return total


def _expect_whole(algebra: "Algebra", poly: Poly) -> None:
    """Take the undeclared names of a polynomial for whole numbers. Raises `NoNormalForm` if others are not declared so."""
    others = set(algebra.others())
    for place, key in enumerate(algebra.names()):
        if any(monomial[place] for monomial in poly.itermonoms()) and (key in others or not algebra.is_whole(key)):
            raise NoNormalForm("a name that may not be whole")
    if any(value.denominator != 1 for value in poly.itercoeffs()):
        raise NoNormalForm("a value that may not be whole")
