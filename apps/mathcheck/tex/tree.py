"""Expressions as read from TeX, without any simplification, so that tests use what the author wrote."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from apps.mathcheck.tex.notation import NotUnderstood


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `op` is one of

    num (value: Fraction) · name (value: str) · const (pi, e) · add, mul, div, pow, neg (args) · fn (value: a known function)
    · apply (value: an unknown function with its primes, args) · item (value: a sequence, args: its index)
    · sum, prod (value: the bound name, args: from, to, body, and for an ellipsis the least `to` that was meant) · series, run
    (terms of a sum or product with an ellipsis before the last one) · degrees, deriv (args: one).
    """

    op: str
    args: tuple["Node", ...] = ()
    value: Fraction | str | None = None


BINDERS = ("sum", "prod")
#: Most levels of nodes; a walk needs up to four frames for each.
DEEPEST_TREE = 80
TOO_DEEP = "it is nested too deeply"


def number(value: int | Fraction) -> Node:
    """A literal."""
    return Node("num", value=Fraction(value))


def name(value: str) -> Node:
    """A variable."""
    return Node("name", value=value)


def walk(node: Node) -> Iterator[Node]:
    """The node and all its descendants."""
    yield node
    for part in node.args:
        yield from walk(part)


def free_names(node: Node) -> frozenset[str]:
    """Variables that no sum or product binds. An unknown function or sequence also counts as a name."""
    if node.op == "name":
        return frozenset([str(node.value)])
    found: frozenset[str] = frozenset()
    if node.op in BINDERS:
        low, high, body = node.args[:3]
        return free_names(low) | free_names(high) | (free_names(body) - {str(node.value)})
    for part in node.args:
        found |= free_names(part)
    return found | {f"{node.value}()"} if node.op in ("apply", "item") else found


def has(node: Node, *ops: str) -> bool:
    """Whether an operation occurs anywhere."""
    return any(part.op in ops for part in walk(node))


def rebuilt(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """The tree with every node replaced for which `change` returns a node, from the top down."""
    replaced = change(node)
    if replaced is not None:
        return replaced
    if not node.args:
        return node
    return Node(node.op, tuple(rebuilt(part, change) for part in node.args), node.value)


def substituted(node: Node, values: Mapping[str, Node]) -> Node:
    """The tree with free names replaced. A bound name hides an outer one of the same spelling."""
    if node.op == "name":
        return values.get(str(node.value), node)
    if node.op in BINDERS:
        low, high, body, *least = node.args
        inner = {key: value for key, value in values.items() if key != node.value}
        changed = (substituted(low, values), substituted(high, values), substituted(body, inner), *least)
        return Node(node.op, changed, node.value)
    return Node(node.op, tuple(substituted(part, values) for part in node.args), node.value) if node.args else node


def refuse_deep(node: Node) -> None:
    """Raise NotUnderstood if the tree is so deep that a walk may reach Python's recursion limit."""
    level, depth = [node], 0
    while level:
        if depth > DEEPEST_TREE:
            raise NotUnderstood(TOO_DEEP)
        level, depth = [part for one in level for part in one.args], depth + 1


def is_bare(node: Node) -> bool:
    """Whether it is a number, perhaps with a sign, or a single variable."""
    return node.op in ("num", "name", "const") or (node.op == "neg" and is_bare(node.args[0]))


def is_bare_number(node: Node) -> bool:
    """Whether it is a literal, perhaps with a sign."""
    return node.op == "num" or (node.op == "neg" and is_bare_number(node.args[0]))
