"""Turns a claim with its domains and conditions into a theorem. What has no exact counterpart raises `NotExpressible`.

Proof assistants give every expression a value. Where a claim has none, such as at a zero divisor, a hypothesis excludes the
point. If only declared names occur in it, it must be proved instead. Whole numbers are of sort Z; rational and real numbers are
of sort R, so that a theorem about rational names is stated for all real numbers.
"""

import re
from fractions import Fraction

from apps.mathcheck.kernel.terms import NeedsReals, NotExpressible, Relation, Sort, Term, Theorem, folded, number, parts
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.tex.tree import BINDERS, Node

MOST_DIGITS, HIGHEST_POWER, LARGEST_FACTORIAL = 60, 4_000, 60
_FUNCTIONS = frozenset(["sin", "cos", "exp", "arctan"])
#: Each sign with its counterpart, and whether the sides change places.
_ORDER = {
    "<": ("<", False),
    ">": ("<", True),
    r"\le": ("<=", False),
    r"\ge": ("<=", True),
    "=": ("=", False),
    r"\ne": ("<>", False),
}
_RESERVED_WRITTEN = """
    R Z Q N O S I E C D PI claim as at cos do else end exists exp fix for forall from fun if in let ln match mod of pi return
    sin sqrt tan then using where with
"""
_RESERVED = frozenset(_RESERVED_WRITTEN.split())


def theorem_of(facts: Facts) -> Theorem:
    """The claim as a theorem. Conditions without a counterpart are left out, which makes the theorem stronger."""
    builder = _Builder(facts)
    conclusion = builder.relation(facts.claim)
    defined = tuple(builder.defined)
    hypotheses = [*builder.domains(facts.claim.names)]
    for condition in facts.conditions:
        builder.defined.clear()
        try:
            stated = builder.relation(condition)
        except NotExpressible:
            continue
        hypotheses += [*builder.domains(condition.names), *builder.defined, stated]
    given = dict.fromkeys(hypotheses)
    required = [one for one in dict.fromkeys(defined) if one not in given and not builder.may_be_excluded(one)]
    excluded = [one for one in dict.fromkeys(defined) if one not in given and one not in required]
    return Theorem(builder.quantified(), (*given, *excluded), conclusion, tuple(required))


class _Builder:
    """The translation of one claim and its conditions. `defined` collects what gives their expressions a value."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.defined: list[Relation] = []
        self._names: dict[str, str] = {}
        self._used: dict[str, Sort] = {}
        self._whole = {key for key, domain in facts.domains.items() if _is_whole(domain)}
        if facts.claim.modulus is not None or facts.claim.relation in (r"\mid", r"\nmid"):
            self._whole |= {key for key in facts.claim.names if not facts.domains.get(key, Domain()).declared}

    def quantified(self) -> tuple[tuple[str, Sort], ...]:
        """The names that occur, in order of appearance."""
        return tuple(self._used.items())

    def may_be_excluded(self, one: Relation) -> bool:
        """Whether a name in it is undeclared, so that the text may mean only the points at which it holds."""
        declared = {self._names[key] for key, domain in self.facts.domains.items() if domain.declared and key in self._names}
        names = {part.value for side in (one.left, one.right) for part in parts(side) if part.op == "name"}
        return bool(names - declared)

    def domains(self, names: frozenset[str]) -> list[Relation]:
        """The declared signs, parities and primality of names."""
        found: list[Relation] = []
        for key in sorted(names):
            domain, term = self.facts.domains.get(key, Domain()), self._name(key)
            zero = number(0, term.sort)
            found += {
                "positive": [Relation("<", zero, term)],
                "nonnegative": [Relation("<=", zero, term)],
                "negative": [Relation("<", term, zero)],
                "nonpositive": [Relation("<=", term, zero)],
                "nonzero": [Relation("<>", term, zero)],
            }.get(domain.sign, [])
            if domain.prime:
                found.append(Relation("prime", term, term))
            if domain.parity is not None:
                found.append(Relation("parity", term, number(domain.parity, "Z")))
        return found

    def relation(self, one: Condition) -> Relation:
        """A relation of the text; raises NotExpressible."""
        if one.modulus is not None or one.relation in (r"\mid", r"\nmid"):
            return self._divisibility(one)
        if one.relation not in _ORDER:
            raise NotExpressible(f"the relation {one.relation}")
        sign, turned = _ORDER[one.relation]
        known = list(self.defined)
        try:
            left, right = self._whole_term(one.left), self._whole_term(one.right)
        except NeedsReals:
            self.defined[:] = known
            left, right = self._real(one.left), self._real(one.right)
        return Relation(sign, right, left) if turned else Relation(sign, left, right)

    def _divisibility(self, one: Condition) -> Relation:
        divisor = self._whole_term(one.modulus if one.modulus is not None else one.left)
        right = self._whole_term(one.right)
        multiple = right
        if one.modulus is not None:
            left = self._whole_term(one.left)
            multiple = left if right == number(0, "Z") else Term("add", "Z", (left, Term("neg", "Z", (right,))))
        self._nonzero(divisor)
        return Relation("not divides" if one.relation == r"\nmid" else "divides", divisor, multiple)

    def _name(self, key: str) -> Term:
        if key not in self._names:
            plain = re.sub(r"\W", "", key.lstrip("\\").replace("'", "_prime").replace("@", "value_")) or "v"
            plain = f"{plain}_" if plain in _RESERVED or not plain[0].isalpha() else plain
            while plain in self._names.values():
                plain += "_"
            self._names[key] = plain
        sort: Sort = "Z" if key in self._whole else "R"
        self._used[self._names[key]] = sort
        return Term("name", sort, value=self._names[key])

    def _nonzero(self, term: Term) -> None:
        if term.op != "num" or not term.value:
            self.defined.append(Relation("<>", term, number(0, term.sort)))

    def _whole_term(self, node: Node) -> Term:
        """The expression over the whole numbers; raises NeedsReals."""
        if node.op == "num":
            value = _limited(Fraction(node.value or 0))
            if value.denominator != 1:
                raise NeedsReals("a fraction")
            return number(value, "Z")
        if node.op == "name":
            term = self._name(str(node.value))
            if term.sort == "R":
                raise NeedsReals(f"{node.value} is not declared as a whole number")
            return term
        if node.op in ("add", "mul", "neg"):
            return Term(node.op, "Z", tuple(map(self._whole_term, node.args)))
        if node.op == "pow":
            base, exponent = self._whole_term(node.args[0]), self._exponent(node.args[1])
            return Term("pow", "Z", (base, exponent))
        if node.op == "fn":
            return self._whole_function(node)
        raise _unknown(node)

    def _exponent(self, node: Node) -> Term:
        if node.op == "neg" and node.args[0].op == "num":
            raise NeedsReals("a negative exponent")
        term = self._whole_term(node)
        low = self._low(node)
        if low is None or low < 0:
            raise NotExpressible("an exponent that may be negative")
        if term.op == "num" and Fraction(term.value) > HIGHEST_POWER:
            raise NotExpressible("an exponent that is too large")
        return term

    def _low(self, node: Node, sign: int = 1) -> Fraction | None:
        """A lower bound of a linear expression (of its negative for sign -1); None if none is known."""
        if node.op == "num":
            return sign * Fraction(node.value or 0)
        if node.op == "name":
            bound = self.facts.bound(str(node.value))
            if sign > 0:
                return None if bound.low is None else Fraction(bound.start)
            return None if bound.high is None else -Fraction(bound.end)
        if node.op == "neg":
            return self._low(node.args[0], -sign)
        lows = [self._low(part, sign) for part in node.args]
        known = [low for low in lows if low is not None]
        if node.op == "add" and len(known) == len(lows):
            return sum(known, Fraction(0))
        if node.op == "mul" and sign > 0 and len(known) == len(lows) and all(low >= 0 for low in known):
            return Fraction(0)
        if node.op == "pow" and sign > 0 and lows[0] is not None and lows[0] >= 0:
            return Fraction(0)
        return None

    def _whole_function(self, node: Node) -> Term:
        function = str(node.value)
        if function in ("abs", "min", "max", "gcd", "lcm"):
            terms = [self._whole_term(part) for part in node.args]
            return folded(function, "Z", terms)
        if function == "floor" and node.args[0].op == "div":
            top, bottom = map(self._whole_term, node.args[0].args)
            self._nonzero(bottom)
            return Term("quot", "Z", (top, bottom))
        if function == "factorial" and node.args[0].op == "num":
            value = Fraction(node.args[0].value or 0)
            if value.denominator == 1 and 0 <= value <= LARGEST_FACTORIAL:
                return Term("factorial", "Z", (number(value, "Z"),))
        if function == "binom" and all(part.op == "num" for part in node.args):
            upper, lower = (Fraction(part.value or 0) for part in node.args)
            if upper.denominator == lower.denominator == 1 and 0 <= lower <= upper <= LARGEST_FACTORIAL:
                return Term("binomial", "Z", (number(upper, "Z"), number(lower, "Z")))
        if function in ("sqrt", "root", *_FUNCTIONS, "ln", "log", "tan"):
            raise NeedsReals(f"{function} of a number")
        raise NotExpressible(f"the function {function} of such an argument")

    def _real(self, node: Node) -> Term:
        """The expression over the real numbers."""
        if node.op == "num":
            return number(_limited(Fraction(node.value or 0)), "R")
        if node.op == "const":
            return Term("pi", "R") if node.value == "pi" else Term("exp", "R", (number(1, "R"),))
        if node.op == "name":
            term = self._name(str(node.value))
            return term if term.sort == "R" else Term("cast", "R", (term,))
        if node.op in ("add", "mul", "neg"):
            return Term(node.op, "R", tuple(map(self._real, node.args)))
        if node.op == "div":
            top, bottom = map(self._real, node.args)
            self._nonzero(bottom)
            return Term("div", "R", (top, bottom))
        if node.op == "pow":
            return self._real_power(*node.args)
        if node.op == "fn":
            return self._real_function(node)
        raise _unknown(node)

    def _real_power(self, base: Node, exponent: Node) -> Term:
        value = _literal(exponent)
        if value is None:
            return Term("cast", "R", (self._whole_term(Node("pow", (base, exponent))),))
        term = self._real(base)
        if value.denominator == 2 and value > 0:
            self.defined.append(Relation("<=", number(0, "R"), term))
            term, value = Term("sqrt", "R", (term,)), 2 * value
        if value.denominator != 1 or abs(value) > HIGHEST_POWER:
            raise NotExpressible("such an exponent")
        if value >= 0:
            return term if value == 1 and exponent.op != "num" else Term("pow", "R", (term,), int(value))
        self._nonzero(term)
        lower = term if value == -1 else Term("pow", "R", (term,), int(-value))
        return Term("div", "R", (number(1, "R"), lower))

    def _real_function(self, node: Node) -> Term:
        function = str(node.value)
        if function in ("floor", "gcd", "lcm", "factorial", "binom"):
            return Term("cast", "R", (self._whole_term(node),))
        terms = [self._real(part) for part in node.args]
        if function in ("abs", "min", "max"):
            return folded(function, "R", terms)
        if function == "sqrt" or (function == "root" and _literal(node.args[1]) == 2):
            self.defined.append(Relation("<=", number(0, "R"), terms[0]))
            return Term("sqrt", "R", (terms[0],))
        if function in _FUNCTIONS:
            return Term("atan" if function == "arctan" else function, "R", (terms[0],))
        if function in ("ln", "log"):
            for term in terms:
                self.defined.append(Relation("<", number(0, "R"), term))
            logarithms = [Term("ln", "R", (term,)) for term in terms]
            if len(logarithms) == 1:
                return logarithms[0]
            self._nonzero(logarithms[1])
            return Term("div", "R", tuple(logarithms))
        raise NotExpressible(f"the function {function}")


def _is_whole(domain: Domain) -> bool:
    return domain.kind == "integer" or domain.prime or domain.parity is not None


def _literal(node: Node) -> Fraction | None:
    """The number that an exponent spells: 3, -2, 1/2."""
    if node.op == "num":
        return Fraction(node.value or 0)
    inner = [_literal(part) for part in node.args] if node.op in ("neg", "div") else []
    if node.op == "neg" and inner[0] is not None:
        return -inner[0]
    if node.op == "div" and inner[0] is not None and inner[1]:
        return inner[0] / inner[1]
    return None


def _limited(value: Fraction) -> Fraction:
    if max(len(str(value.numerator)), len(str(value.denominator))) > MOST_DIGITS:
        raise NotExpressible("a number with too many digits")
    return value


def _unknown(node: Node) -> NotExpressible:
    if node.op in BINDERS:
        return NotExpressible("a sum or product with a name as its bound")
    if node.op == "div":
        return NeedsReals("a quotient")
    if node.op == "const":
        return NeedsReals("a constant such as π")
    return NotExpressible(f"`{node.value or node.op}`")
