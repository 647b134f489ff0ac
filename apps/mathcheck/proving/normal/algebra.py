"""Normal forms of expressions: fractions of polynomials with rational coefficients, over names and other indivisible parts.

Indivisible parts (generators) are names, roots, powers with a name in the exponent, factorials, and values of other functions.
Relations among them are used for reduction: the square of `sqrt(u)` is `u`, `cos(x)^2` is `1 - sin(x)^2`, `((-1)^n)^2` is 1.
Equal normal forms prove equality wherever both sides have a value. Different ones prove nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sympy import QQ, Symbol
from sympy.polys.rings import ring

from apps.mathcheck.proving.normal.forms import NoNormalForm, Poly, Quotient, Relation, constant_of, factored, is_constant
from apps.mathcheck.proving.normal.functions import function, root
from apps.mathcheck.scope import Domain
from apps.mathcheck.testing.work import spend
from apps.mathcheck.tex.tree import Node
from apps.mathcheck.tex.written import written

HIGHEST_POWER, MOST_TERMS = 40, 3_000


@dataclass
class Algebra:
    """The normal forms of several expressions over one ring. `domains` has the declared names."""

    domains: dict[str, Domain]
    _keys: list[str] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)
    _relations: dict[str, Callable[[], Relation]] = field(default_factory=dict)
    ring: Any = None
    #: Divisors met on the way, as polynomials; each must not be zero.
    divisors: list[Poly] = field(default_factory=list)
    #: Polynomials that may not be negative: under roots of even degree, and above in binomial coefficients.
    not_negative: list[Poly] = field(default_factory=list)
    #: Undeclared names in exponents, which are taken for whole numbers.
    taken_whole: set[str] = field(default_factory=set)

    def over(self, *nodes: Node) -> list[Quotient]:
        """The normal forms of all expressions. Raises `NoNormalForm`."""
        while True:
            self.divisors, self.not_negative, count = [], [], len(self._keys)
            self.ring = ring([Symbol(key) for key in self._keys or ["_"]], QQ)[0]
            try:
                found = [self.of(node) for node in nodes]
            except _NewGenerator:
                if len(self._keys) > 30:
                    raise NoNormalForm("too many different parts") from None
                continue
            if len(self._keys) == count:
                return found

    def reduced(self, poly: Poly) -> Poly:
        """The polynomial with all relations used."""
        for _ in range(8):
            before = poly
            for key, made in self._relations.items():
                poly = self._lowered(poly, self._keys.index(key), made())
            if poly == before:
                return poly
        raise NoNormalForm("the relations do not end")

    def definitions(self) -> list[Poly]:
        """Polynomials that are 0 because of what the generators mean: `root(2, 2)^2 - 2`."""
        found = []
        for key, made in self._relations.items():
            relation = made()
            found.append(self.ring.gens[self._keys.index(key)] ** relation.power - relation.value)
        return found

    def names(self) -> list[str]:
        """The generators, in order."""
        return list(self._keys)

    def others(self) -> list[str]:
        """The generators that are not names."""
        return [key for key in self._keys if key not in self._names]

    def relation(self, key: str) -> Relation | None:
        """What defines a generator that is a root, an absolute value or a cosine; None for others, as a power of a root."""
        return made() if (made := self._relations.get(key)) else None

    def generator_of(self, node: Node) -> str | None:
        """The generator that is the expression, if there is one already."""
        known = list(self._keys)
        try:
            form = self.of(node)
        except (_NewGenerator, NoNormalForm):
            self._keys = known
            return None
        found = (key for key, generator in zip(known, self.ring.gens, strict=False) if form.top == generator)
        return next(found, None) if form.bottom == 1 else None

    def _lowered(self, poly: Poly, place: int, relation: Relation) -> Poly:
        if all(monomial[place] < relation.power for monomial in poly.itermonoms()):
            return poly
        kept = self.ring.zero
        for monomial, factor in poly.iterterms():
            times, rest = divmod(monomial[place], relation.power)
            lowered = tuple(rest if at == place else exponent for at, exponent in enumerate(monomial))
            term = self.ring({lowered: factor})
            kept += self.times(term, self._raised(relation.value, times)) if times else term
        return kept

    def generator(self, key: str, relation: Callable[[], Relation] | None = None) -> Poly:
        if key not in self._keys:
            self._keys.append(key)
            if relation is not None:
                self._relations[key] = relation
            raise _NewGenerator
        if len(self.ring.gens) != len(self._keys):
            raise _NewGenerator
        return self.ring.gens[self._keys.index(key)]

    def number(self, value: Fraction) -> Quotient:
        return Quotient(self.ring(QQ(value.numerator, value.denominator)), self.ring.one)

    def of(self, node: Node) -> Quotient:
        spend(1)
        made = _MADE.get(node.op)
        if made is None:
            return self.whole(self.generator(written(node)))
        return made(self, node)

    def whole(self, poly: Poly) -> Quotient:
        return Quotient(poly, self.ring.one)

    def _name(self, name: str) -> Quotient:
        self._names.add(name)
        return self.whole(self.generator(name))

    def times(self, one: Poly, two: Poly) -> Poly:
        spend(1 + len(one) * len(two) // 4)
        found = one * two
        if len(found) > MOST_TERMS:
            raise NoNormalForm("too many terms")
        return found

    def _raised(self, poly: Poly, exponent: int) -> Poly:
        found = self.ring.one
        for _ in range(exponent):
            found = self.times(found, poly)
        return found

    def _added(self, node: Node) -> Quotient:
        total = Quotient(self.ring.zero, self.ring.one)
        for part in node.args:
            one = self.of(part)
            if one.bottom == total.bottom:
                total = Quotient(total.top + one.top, total.bottom)
            else:
                crossed = self.times(total.top, one.bottom) + self.times(one.top, total.bottom)
                total = Quotient(crossed, self.times(total.bottom, one.bottom))
        return total

    def _multiplied(self, node: Node) -> Quotient:
        total = Quotient(self.ring.one, self.ring.one)
        for part in node.args:
            total = self.product(total, self.of(part))
        return total

    def product(self, one: Quotient, two: Quotient) -> Quotient:
        return Quotient(self.times(one.top, two.top), self.times(one.bottom, two.bottom))

    def inverse(self, one: Quotient) -> Quotient:
        top = one.top if is_constant(one.top) else self.reduced(one.top)
        if top == 0:
            raise NoNormalForm("a division by zero")
        self.divisors.append(top)
        return Quotient(one.bottom, one.top)

    def _divided(self, node: Node) -> Quotient:
        return self.product(self.of(node.args[0]), self.inverse(self.of(node.args[1])))

    def _negative(self, node: Node) -> Quotient:
        one = self.of(node.args[0])
        return Quotient(-one.top, one.bottom)

    def _power(self, node: Node) -> Quotient:
        base, exponent = node.args
        shape = self.of(exponent)
        if shape.bottom != 1 or not is_constant(shape.top):
            return self._symbolic_power(base, exponent, shape)
        value = constant_of(shape.top)
        if value.denominator == 2 and abs(value) <= HIGHEST_POWER:
            return self.integer_power(root(self, base, 2), value.numerator)
        if value.denominator != 1:
            return self.whole(self.generator(written(node)))
        return self.integer_power(self.of(base), value.numerator)

    def integer_power(self, base: Quotient, exponent: int) -> Quotient:
        if abs(exponent) > HIGHEST_POWER and len(base.top) + len(base.bottom) > 2:
            raise NoNormalForm("a high power")
        if abs(exponent) > 1_000:
            raise NoNormalForm("a high power")
        if exponent <= 0:
            base = self.inverse(base)
        times = abs(exponent)
        if len(base.top) == 1 and len(base.bottom) == 1:
            spend(times)
            return Quotient(base.top**times, base.bottom**times)
        return Quotient(self._raised(base.top, times), self._raised(base.bottom, times))

    def _symbolic_power(self, base: Node, exponent: Node, shape: Quotient) -> Quotient:
        """`c^(2n+1)` as `(c^n)^2 * c`, for whole names in the exponent or a positive base."""
        if shape.bottom != 1 or any(sum(monomial) > 1 for monomial in shape.top.itermonoms()):
            return self.whole(self.generator(written(Node("pow", (base, exponent)))))
        total, base_form = Quotient(self.ring.one, self.ring.one), self.of(base)
        positive = self._is_positive(base)
        sign = base_form.bottom == 1 and base_form.top == -1
        for monomial, factor in shape.top.iterterms():
            value = Fraction(int(factor.numerator), int(factor.denominator))
            if value.denominator != 1 or abs(value) > HIGHEST_POWER:
                return self.whole(self.generator(written(Node("pow", (base, exponent)))))
            if not sum(monomial):
                total = self.product(total, self.integer_power(base_form, int(value)) if value else total)
                continue
            name = self._keys[monomial.index(1)]
            if not positive and not self.is_whole(name):
                raise NoNormalForm("a power with a real exponent")
            one = self._one_power(base, base_form, name, sign)
            total = self.product(total, self.integer_power(one, int(value)))
        return total

    def _one_power(self, base: Node, form: Quotient, name: str, sign: bool) -> Quotient:
        if sign:
            key = f"(-1)^{name}"
            return self.whole(self.generator(key, lambda: Relation(2, self.ring.one)))
        if is_constant(form.top) and is_constant(form.bottom):
            value = constant_of(form.top) / constant_of(form.bottom)
            if value == 0:
                raise NoNormalForm("a power of zero")
            total = self._one_power(base, self.number(Fraction(-1)), name, True) if value < 0 else self.number(Fraction(1))
            for prime, times in factored(abs(value)):
                one = self.whole(self.generator(f"{prime}^{name}"))
                total = self.product(total, self.integer_power(one, times))
            return total
        return self.whole(self.generator(f"({self.key_of(form)})^{name}"))

    def is_whole(self, name: str) -> bool:
        """Whether a name is a whole number, or is taken for one."""
        domain = self.domains.get(name)
        if domain is not None and domain.declared:
            return domain.kind == "integer"
        base, caret, exponent = name.partition("^")
        if caret and base.isdigit():
            known = self.domains.get(exponent)
            return known is not None and known.kind == "integer" and known.sign in ("positive", "nonnegative")
        if name[:1] not in "nmkijlpqrst#":
            return False
        self.taken_whole.add(name)
        return True

    def _is_positive(self, base: Node) -> bool:
        if base.op == "num":
            return Fraction(base.value or 0) > 0
        if base.op == "name":
            domain = self.domains.get(str(base.value))
            return domain is not None and domain.sign == "positive"
        return base.op == "const"

    def is_positive_name(self, key: str) -> bool:
        """Whether a generator is a name that is declared positive."""
        domain = self.domains.get(key)
        return key in self._names and domain is not None and domain.sign == "positive"

    def key_of(self, form: Quotient) -> str:
        top = str(form.top.as_expr())
        return top if form.bottom == 1 else f"({top})/({form.bottom.as_expr()})"


class _NewGenerator(Exception):
    """A generator was added, so the ring must be built again."""


def _const(algebra: Algebra, node: Node) -> Quotient:
    return algebra.whole(algebra.generator(str(node.value) + "()"))


def _degrees(algebra: Algebra, node: Node) -> Quotient:
    turn = algebra.product(_const(algebra, Node("const", value="pi")), algebra.number(Fraction(1, 180)))
    return algebra.product(algebra.of(node.args[0]), turn)


_MADE: dict[str, Callable[[Algebra, Node], Quotient]] = {
    "num": lambda algebra, node: algebra.number(Fraction(node.value or 0)),
    "name": lambda algebra, node: algebra._name(str(node.value)),
    "const": _const,
    "degrees": _degrees,
    "add": Algebra._added,
    "mul": Algebra._multiplied,
    "div": Algebra._divided,
    "neg": Algebra._negative,
    "pow": Algebra._power,
    "fn": function,
}
