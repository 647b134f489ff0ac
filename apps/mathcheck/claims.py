"""Claims: one asserted relation between two expressions, in every reading of its notation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.mathcheck.scope import UNMODULATED, Condition, Scope
from apps.mathcheck.testing.shapes import derivative
from apps.mathcheck.tex.ellipsis import expanded
from apps.mathcheck.tex.lexing import Token
from apps.mathcheck.tex.notation import READINGS, NotUnderstood
from apps.mathcheck.tex.parsing import parsed
from apps.mathcheck.tex.relations import Statement
from apps.mathcheck.tex.tree import BINDERS, Node, free_names, has, is_bare, name, number, rebuilt, substituted, walk

KINDS = {"=": "identity", r"\equiv": "congruence", r"\nequiv": "congruence", r"\mid": "divisibility", r"\nmid": "divisibility"}


@dataclass(frozen=True, slots=True)
class Link:
    """Two neighbours of a chain of relations, as tokens; places are inside the formula."""

    left: Sequence[Token]
    relation: str
    right: Sequence[Token]
    modulus: Sequence[Token] | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A relation to test. `variants`: its readings, with definitions substituted. `named`: the name for each value of an
    unknown function or sequence; `opaque`: those names."""

    relation: str
    variants: tuple[Condition, ...]
    opaque: frozenset[str] = frozenset()
    named: tuple[tuple[Node, str], ...] = ()
    by_derivative: bool = False
    #: Functions whose derivatives occur; they must have a value at the test points.
    differentiated: tuple[Node, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset().union(*(variant.names for variant in self.variants))

    @property
    def kind(self) -> str:
        if self.by_derivative:
            return "derivative"
        if not self.names and self.relation in ("=", "<", ">", r"\le", r"\ge", r"\ne"):
            return "arithmetic"
        return KINDS.get(self.relation, "inequality")


def links(statement: Statement) -> list[Link]:
    """The neighbouring pairs of a chain."""
    found = []
    for place, relation in enumerate(statement.relations):
        left, right = statement.parts[place], statement.parts[place + 1]
        shown = [*left, relation, *right]
        text = "=" if relation.text == ":=" else relation.text
        end = max([statement.modulus_end, *(token.end for token in shown)])
        found.append(Link(left, text, right, statement.modulus, min(token.start for token in shown), end))
    return found


def read_link(link: Link, scope: Scope, totient: bool = False) -> Claim:
    """The claim of a link, with definitions substituted; raises NotUnderstood."""
    if not link.left or not link.right:
        raise NotUnderstood("a side is missing")
    if link.relation in UNMODULATED and link.modulus is None:
        raise NotUnderstood("a congruence without its modulus")
    reader = _Reader(scope, totient)
    variants: list[Condition] = []
    functions = frozenset(scope.functions)
    for reading in READINGS:
        sides = [parsed(side, functions, reading) for side in (link.left, link.right)]
        modulus = None if link.modulus is None else reader.resolved(parsed(link.modulus, functions, reading))
        raw = Condition(UNMODULATED.get(link.relation, link.relation), sides[0], sides[1], modulus)
        variant = Condition(raw.relation, reader.resolved(raw.left), reader.resolved(raw.right), modulus)
        for based in _with_bases(variant):
            if based not in variants:
                variants.append(based)
    relation = link.relation
    if link.modulus is not None:
        relation = {"=": r"\equiv", r"\ne": r"\nequiv"}.get(relation, relation)
    by_derivative = bool(reader.differentiated) and _is_derivative_claim(parsed(link.left, functions), variants[0], scope)
    return Claim(
        relation,
        tuple(variants),
        frozenset(reader.opaque.values()),
        tuple(reader.opaque.items()),
        by_derivative,
        tuple(reader.differentiated),
    )


def _with_bases(variant: Condition) -> list[Condition]:
    """The readings of logarithms without a base: e, 10 or 2."""
    if not any(_is_bare_log(part) for side in (variant.left, variant.right) for part in walk(side)):
        return [variant]
    found = [variant]
    for base in (10, 2):

        def based(part: Node, base: int = base) -> Node | None:
            return Node("fn", (rebuilt(part.args[0], based), number(base)), "log") if _is_bare_log(part) else None

        found.append(Condition(variant.relation, rebuilt(variant.left, based), rebuilt(variant.right, based), variant.modulus))
    return found


def _is_bare_log(node: Node) -> bool:
    return node.op == "fn" and node.value == "log" and len(node.args) == 1


def resolved(node: Node, scope: Scope, totient: bool = False) -> Node:
    """The expression with definitions, derivatives and ellipses replaced; raises NotUnderstood."""
    return _Reader(scope, totient).resolved(node)


def restated(claim: Claim, conditions: Sequence[Condition], scope: Scope) -> list[Condition]:
    """Conditions with definitions substituted and the claim's names for values of unknown functions. Skips unreadable ones."""
    reader = _Reader(scope, totient=False)
    reader.opaque.update(claim.named)
    found: list[Condition] = []
    for one in conditions:
        try:
            modulus = None if one.modulus is None else reader.resolved(one.modulus)
            found.append(Condition(one.relation, reader.resolved(one.left), reader.resolved(one.right), modulus))
        except NotUnderstood:
            continue
    return found


def _is_derivative_claim(left: Node, variant: Condition, scope: Scope) -> bool:
    """Whether it is `f''(x) = …` with a free x and more than a number on the right, unlike `f'(k) = 0` at some k."""
    argument = left.args[0] if left.op in ("apply", "deriv") else left
    free = left.op == "deriv" or (left.op == "apply" and argument.op == "name" and str(argument.value) not in scope.definitions)
    return free and not is_bare(variant.right) and free_names(variant.right) <= free_names(variant.left) | free_names(left)


class _Reader:
    """Replaces definitions, derivatives and ellipses in expressions, and unknown values by names."""

    def __init__(self, scope: Scope, totient: bool) -> None:
        self.scope, self.totient = scope, totient
        self.opaque: dict[Node, str] = {}
        self.differentiated: list[Node] = []

    def resolved(self, node: Node) -> Node:
        node = expanded(node)
        node = substituted(node, self._definitions())
        for _ in range(4):
            node = rebuilt(node, self._applied)
        self._refuse_units(node)
        return self._named(node, frozenset())

    def _definitions(self) -> Mapping[str, Node]:
        usable = {k: v for k, v in self.scope.definitions.items() if k not in self.scope.redefined}
        for _ in range(3):
            usable = {key: substituted(value, {k: v for k, v in usable.items() if k != key}) for key, value in usable.items()}
        return {key: value for key, value in usable.items() if key not in free_names(value)}

    def _applied(self, node: Node) -> Node | None:
        if node.op == "pow" and node.args[0] == name("e") and not self.scope.is_declared("e"):
            return Node("pow", (Node("const", value="e"), self._inner(node.args[1])))
        if node.op == "deriv":
            inner = self._inner(node.args[0])
            self.differentiated.append(inner)
            return derivative(inner, str(node.value))
        if node.op != "apply":
            return None
        letter = str(node.value).rstrip("'")
        if letter == r"\phi" and self.totient and len(node.args) == 1:
            return Node("fn", (self._inner(node.args[0]),), "totient")
        known = self.scope.functions.get(letter)
        if known is None or letter in self.scope.redefined or len(known[0]) != len(node.args):
            return None
        parameters, body = known
        order = len(str(node.value)) - len(letter)
        original = body
        if order:
            body = derivative(rebuilt(body, self._applied), parameters[0], order)
        usable = {key: value for key, value in self._definitions().items() if key not in parameters}
        body = substituted(body, usable)
        values = dict(zip(parameters, (self._inner(part) for part in node.args), strict=True))
        if order:
            self.differentiated.append(substituted(substituted(original, usable), values))
        return substituted(body, values)

    def _inner(self, node: Node) -> Node:
        return rebuilt(substituted(node, self._definitions()), self._applied)

    def _refuse_units(self, node: Node) -> None:
        for letter, meaning in (("i", "the imaginary unit"), ("e", "Euler's number")):
            if letter in free_names(node) and not self.scope.is_declared(letter):
                raise NotUnderstood(f"{letter} may be {meaning}")
        if any(
            part.op == "fn" and part.value in ("sin", "cos", "tan") and part.args[0].op == "num" and part.args[0].value
            for part in walk(node)
        ):
            raise NotUnderstood("an angle that may be meant in degrees")

    def _named(self, node: Node, bound: frozenset[str]) -> Node:
        if node.op in ("apply", "item"):
            if free_names(node) & bound:
                raise NotUnderstood("a sum over an unknown sequence or function")
            return name(self.opaque.setdefault(ordered(node), f"@{len(self.opaque) + 1}"))
        if node.op in BINDERS:
            inner = bound | {str(node.value)}
            low, high, body, *least = node.args
            return Node(
                node.op, (self._named(low, bound), self._named(high, bound), self._named(body, inner), *least), node.value
            )
        return Node(node.op, tuple(self._named(part, bound) for part in node.args), node.value) if node.args else node


def ordered(node: Node) -> Node:
    """The expression with terms and factors in a fixed order, so that f(x+y) is f(y+x)."""
    parts = tuple(ordered(part) for part in node.args)
    return Node(node.op, tuple(sorted(parts, key=repr)) if node.op in ("add", "mul") else parts, node.value)


def decimals(link: Link) -> int | None:
    """The fewest decimal places among the decimal numbers of a link, which may be rounded; None without any."""
    found = [len(token.text.split(".")[1]) for token in (*link.left, *link.right) if token.kind == "num" and "." in token.text]
    return min(found) if found else None


def is_bare_link(link: Link, scope: Scope) -> bool:
    """Whether the link is a condition by form: `x > 0`, `a = b`, `n = 3`, or a lone name before `=`."""
    try:
        left, right = parsed(link.left, frozenset(scope.functions)), parsed(link.right, frozenset(scope.functions))
    except NotUnderstood:
        return False
    both = is_bare(left) and is_bare(right) and bool(free_names(left) | free_names(right))
    return both or (
        link.relation == "=" and left.op == "name" and str(left.value) not in free_names(right) and not has(left, "num")
    )


def letters(tokens: Sequence[Token]) -> set[str]:
    """Single letters of an unread formula, as its possible names."""
    return {token.text for token in tokens if token.kind == "letter" or re.fullmatch(r"\\[a-z]+", token.text)}
