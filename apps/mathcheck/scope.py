"""The context of a formula: domains of names, conditions on them, definitions, and text that was not read."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined, holds, integer
from apps.mathcheck.tex.tree import Node, free_names, substituted, walk


@dataclass(frozen=True, slots=True)
class Domain:
    """The values a name may have. `kind` is integer, rational or real; `declared` is True if the text declares the name."""

    kind: str = "real"
    sign: str = ""  # positive, nonnegative, negative, nonpositive, nonzero
    parity: int | None = None
    prime: bool = False
    declared: bool = False

    def merged(self, other: "Domain") -> "Domain":
        """The intersection of both domains."""
        order = ["real", "rational", "integer"]
        return Domain(
            kind=max(self.kind, other.kind, key=order.index),
            sign=other.sign or self.sign,
            parity=self.parity if other.parity is None else other.parity,
            prime=self.prime or other.prime,
            declared=self.declared or other.declared,
        )

    def contains(self, value: Fraction) -> bool:
        """Whether an exact number belongs to the domain."""
        if self.kind == "integer" and value.denominator != 1:
            return False
        if self.parity is not None and value % 2 != self.parity:
            return False
        if self.prime and not is_prime(int(value)):
            return False
        signs = {"positive": value > 0, "nonnegative": value >= 0, "negative": value < 0, "nonpositive": value <= 0}
        return signs.get(self.sign, value != 0 if self.sign == "nonzero" else True)


def is_prime(value: int) -> bool:
    """Whether a number is prime, by trial division; for the small numbers of tests."""
    return value > 1 and all(value % divisor for divisor in range(2, int(value**0.5) + 1))


@dataclass(frozen=True, slots=True)
class Condition:
    """A relation that test points must satisfy."""

    relation: str
    left: Node
    right: Node
    modulus: Node | None = None

    @property
    def names(self) -> frozenset[str]:
        found = free_names(self.left) | free_names(self.right)
        return found | free_names(self.modulus) if self.modulus is not None else found

    def replaced(self, values: dict[str, Node]) -> "Condition":
        """The same relation with names replaced."""
        modulus = None if self.modulus is None else substituted(self.modulus, values)
        return Condition(self.relation, substituted(self.left, values), substituted(self.right, values), modulus)

    def at(self, point: dict[str, Fraction]) -> bool | None:
        """Whether it holds at a point; None if it has no value or is not decided."""
        try:
            left, right = value_at(self.left, point), value_at(self.right, point)
            if self.modulus is not None:
                congruent = _congruent(left, right, integer(value_at(self.modulus, point)))
                return congruent if congruent is None else congruent is (self.relation != r"\ne")
            if self.relation in (r"\mid", r"\nmid"):
                divisor, multiple = integer(left), integer(right)
                if divisor == 0:
                    return None
                return (multiple % divisor == 0) is (self.relation == r"\mid")
            return holds(self.relation, left, right) if self.relation in _ORDER else None
        except (Undefined, ArithmeticError, ValueError, TypeError):
            return None


#: The relation of a congruence without its modulus, which a `Condition` keeps apart.
UNMODULATED = {r"\equiv": "=", r"\nequiv": r"\ne"}
_ORDER = frozenset(["=", "<", ">", r"\le", r"\ge", r"\ne"])


def _congruent(left: object, right: object, modulus: int) -> bool | None:
    if modulus == 0 or not isinstance(left, Fraction) or not isinstance(right, Fraction):
        return None
    modulus = abs(modulus)
    residues = []
    for value in (left, right):
        try:
            residues.append(value.numerator * pow(value.denominator, -1, modulus) % modulus)
        except ValueError:
            return None
    return residues[0] == residues[1]


@dataclass(slots=True)
class Scope:
    """All that may restrict a later formula."""

    domains: dict[str, Domain] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    definitions: dict[str, Node] = field(default_factory=dict)
    functions: dict[str, tuple[tuple[str, ...], Node]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    redefined: set[str] = field(default_factory=set)
    #: Names in unread cases and suppositions, which may still apply to a later "for all".
    supposed: set[str] = field(default_factory=set)
    #: Whether there is a supposition in words that was not read as a relation.
    vague: bool = False
    #: Whether every word so far was read.
    readable: bool = True
    #: Names that the text has introduced and that no unread words may restrict.
    settled: frozenset[str] = frozenset()
    #: Whether 0 may be a natural number, as it may for proofs.
    with_zero: bool = False

    def copied(self) -> "Scope":
        """An independent copy."""
        return Scope(
            dict(self.domains),
            list(self.conditions),
            dict(self.definitions),
            dict(self.functions),
            set(self.unread),
            set(self.redefined),
            set(self.supposed),
            self.vague,
            self.readable,
            self.settled,
            self.with_zero,
        )

    def for_bound_names(self) -> "Scope":
        """A scope for a sentence that binds its own names: keeps only functions given by their parameters alone."""
        closed = {key: value for key, value in self.functions.items() if free_names(value[1]) <= set(value[0])}
        return Scope(functions=closed, redefined=self.redefined & set(closed), supposed=set(self.supposed))

    def declare(self, name: str, domain: Domain) -> None:
        """Declare a name's domain, in addition to earlier declarations."""
        known = self.domains.get(name, Domain())
        self.domains[name] = known.merged(replace(domain, declared=True))

    def define(self, name: str, value: Node) -> None:
        """Define a name as an expression. A second, different definition makes both unusable."""
        if name in free_names(value) or any(part.op in ("apply", "item") for part in walk(value)):
            self.unread.add(name)
        elif name in self.definitions and self.definitions[name] != value:
            self.redefined.add(name)
        else:
            self.definitions[name] = value

    def define_function(self, name: str, parameters: tuple[str, ...], body: Node) -> None:
        """Define a function by a formula. A second formula makes it unusable."""
        if name in self.functions and self.functions[name] != (parameters, body):
            self.redefined.add(name)
        elif name not in free_names(body) and f"{name}()" not in free_names(body):
            self.functions[name] = (parameters, body)

    def domain(self, name: str) -> Domain:
        return self.domains.get(name, Domain())

    def is_declared(self, name: str) -> bool:
        return name in self.domains and self.domains[name].declared

    @property
    def conditioned(self) -> set[str]:
        """The names in conditions that were read; "such" may refer to them."""
        return {name for condition in self.conditions for name in condition.names}

    def is_fully_conditioned(self, names: frozenset[str]) -> bool:
        """Whether every condition on the names was read, and each name is declared or tied to a declared one by an equation."""
        conditions = self.relevant(names)
        reached = names.union(*(one.names for one in conditions))
        tied = frozenset[str]().union(*(one.names for one in conditions if one.relation == "="))
        known = {name for name in reached if self.is_declared(name)}
        return bool(known) and reached <= known | tied and not self.vague and not reached & (self.unread | self.supposed)

    def relevant(self, names: frozenset[str]) -> list[Condition]:
        """Conditions on the names, direct or through other names."""
        reached, found = set(names), list[Condition]()
        grown = True
        while grown:
            grown = False
            for condition in self.conditions:
                if condition not in found and condition.names & reached:
                    found.append(condition)
                    reached |= condition.names
                    grown = True
        return found
