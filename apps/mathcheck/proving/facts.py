"""What a proof may use about the names of a claim: their domains, and the conditions on them."""

from dataclasses import dataclass, replace
from fractions import Fraction

from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.testing.evaluating import constant
from apps.mathcheck.tex.tree import Node, name
from apps.mathcheck.tex.written import related

#: Each relation with its sides changed.
TURNED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le", "=": "=", r"\ne": r"\ne"}


@dataclass(frozen=True, slots=True)
class Bound:
    """The range of a name; None is no bound. A strict bound is not a value of the name."""

    low: Fraction | None = None
    low_strict: bool = False
    high: Fraction | None = None
    high_strict: bool = False
    whole: bool = False

    @property
    def start(self) -> int:
        """The least whole number in the range; there must be a lower bound."""
        low = self.low or Fraction(0)
        least = -((-low.numerator) // low.denominator)
        return least + 1 if self.low_strict and least == low else least

    @property
    def end(self) -> int:
        """The greatest whole number in the range; there must be an upper bound."""
        high = self.high or Fraction(0)
        greatest = high.numerator // high.denominator
        return greatest - 1 if self.high_strict and greatest == high else greatest


@dataclass(frozen=True, slots=True)
class Facts:
    """The claim to prove, the domains of all its names, and the conditions that may be used."""

    claim: Condition
    domains: dict[str, Domain]
    conditions: tuple[Condition, ...]

    def bound(self, key: str) -> Bound:
        """The range of a name by its domain and the conditions on it alone."""
        domain = self.domains.get(key, Domain())
        found = _of_domain(domain)
        for condition in self.conditions:
            if condition.modulus is None and condition.names == {key}:
                for one, relation, other in ((condition.left, condition.relation, condition.right), _turn(condition)):
                    if one == name(key) and (value := constant(other)) is not None:
                        found = _narrowed(found, relation, value)
        return found

    def is_whole(self, key: str) -> bool:
        """Whether a name is a whole number, declared so or taken for one."""
        domain = self.domains.get(key)
        return domain is not None and domain.kind == "integer"

    def taking_whole(self, names: frozenset[str]) -> "Facts":
        """The same with undeclared names among these as whole numbers; `shown` says so."""
        taken = {key: replace(one, kind="integer") for key, one in self.domains.items() if key in names and not one.declared}
        return replace(self, domains={**self.domains, **taken}) if taken else self

    def shown(self, names: frozenset[str]) -> tuple[str, ...]:
        """The declarations and conditions on the names, in words."""
        declared = [f"{key} {_words(self.domains[key])}" for key in sorted(names) if key in self.domains]
        used = [related(one.left, one.relation, one.right, one.modulus) for one in self.conditions if one.names & names]
        return (*declared, *used)


def _turn(condition: Condition) -> tuple[Node, str, Node]:
    return condition.right, TURNED.get(condition.relation, ""), condition.left


def _of_domain(domain: Domain) -> Bound:
    whole, zero = domain.kind == "integer", Fraction(0)
    if domain.prime:
        return Bound(Fraction(3 if domain.parity == 1 else 2), whole=True)
    if domain.sign == "positive":
        return Bound(Fraction(1), whole=True) if whole else Bound(zero, True)
    if domain.sign == "nonnegative":
        return Bound(zero, whole=whole)
    if domain.sign == "negative":
        return Bound(high=Fraction(-1), whole=True) if whole else Bound(high=zero, high_strict=True)
    return Bound(high=zero, whole=whole) if domain.sign == "nonpositive" else Bound(whole=whole)


def _narrowed(bound: Bound, relation: str, value: Fraction) -> Bound:
    strict = relation in ("<", ">")
    low, low_strict, high, high_strict = bound.low, bound.low_strict, bound.high, bound.high_strict
    if relation in (">", r"\ge", "=") and (low is None or value > low or (value == low and strict)):
        low, low_strict = value, strict
    if relation in ("<", r"\le", "=") and (high is None or value < high or (value == high and strict)):
        high, high_strict = value, strict
    return Bound(low, low_strict, high, high_strict, bound.whole)


def _words(domain: Domain) -> str:
    kind = "prime" if domain.prime else {"integer": "whole", "rational": "rational", "real": "real"}[domain.kind]
    parity = {None: "", 0: "even ", 1: "odd "}[domain.parity]
    sign = domain.sign.replace("non", "non-") + " " if domain.sign and not domain.prime else ""
    return f"{sign}{parity}{kind}"
