"""Ellipses: `1+2+\\dots+n` becomes a sum with a general term, if one general term fits all the terms that were written."""

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from workers.mathcheck.evaluating import Undefined, Value, holds, value_at
from workers.mathcheck.notation import NotUnderstood
from workers.mathcheck.tree import Node, free_names, has, name, number, rebuilt, substituted

BOUND = "#"
STARTS = (1, 0, 2, 3, -1)


def expanded(node: Node) -> Node:
    """The tree with every ellipsis replaced by a sum or product; raises NotUnderstood where no rule fits."""

    def change(part: Node) -> Node | None:
        if part.op not in ("series", "run"):
            return None
        kind = "sum" if part.op == "series" else "prod"
        found = _by_last_term(kind, part.args) or _powers(kind, part.args) or _arithmetic(kind, part.args)
        if found is None:
            raise NotUnderstood("an ellipsis whose rule is not clear")
        return found

    return rebuilt(node, change)


def _by_last_term(kind: str, terms: Sequence[Node]) -> Node | None:
    """The last term as a function of its variable must give the first ones: `1\\cdot2 + 2\\cdot3 + … + n(n+1)`."""
    *first, last = terms
    if len(first) < 2:
        return None
    fitting: list[Node] = []
    for variable in sorted(free_names(last)):
        if not variable.isalpha() or any(variable in free_names(term) for term in first):
            continue
        for start in STARTS:
            guesses = [substituted(last, {variable: number(start + place)}) for place in range(len(first))]
            if all(_same(guess, term) for guess, term in zip(guesses, first, strict=True)):
                body, least = substituted(last, {variable: name(BOUND)}), number(start + len(first))
                fitting.append(Node(kind, (number(start), name(variable), body, least), BOUND))
                break
    return fitting[0] if len(fitting) == 1 else None


def _arithmetic(kind: str, terms: Sequence[Node]) -> Node | None:
    """Equal steps, up or down: `1+2+…+100`, `n+(n-1)+…+1`."""
    *first, last = terms
    if len(first) < 2:
        return None
    steps = [Node("add", (two, Node("neg", (one,)))) for one, two in pairwise(first)]
    step = _constant(steps[0])
    if step is None or step == 0 or any(_constant(other) != step for other in steps):
        return None
    if has(last, "pow") and len(first) < 3 and step != 1:  # Two terms fit an arithmetic progression always.
        return None
    count = Node("div", (Node("add", (last, Node("neg", (first[0],)))), number(step)))
    body = Node("add", (first[0], Node("mul", (name(BOUND), number(step)))))
    return Node(kind, (number(0), count, body, number(len(first))), BOUND)


def _powers(kind: str, terms: Sequence[Node]) -> Node | None:
    """Numbers only: `1^2+2^2+…+10^2` and, with three terms written, `1+2+4+…+64`."""
    first = terms[:-1]
    if all(term.op == "pow" for term in terms) and len({term.args[1] for term in terms}) == 1 and len(first) >= 2:
        inner = _arithmetic(kind, [term.args[0] for term in terms])
        if inner is not None:
            low, high, body, least = inner.args
            return Node(kind, (low, high, Node("pow", (body, terms[0].args[1])), least), BOUND)
    values = [_constant(term) for term in terms]
    if len(first) < 3 or any(value is None or value <= 0 for value in values):
        return None
    known = [value for value in values if value is not None]
    ratio = known[1] / known[0]
    if ratio == 1 or any(two / one != ratio for one, two in pairwise(known[:-1])):
        return None
    count = next((step for step in range(len(first), 200) if known[0] * ratio**step == known[-1]), None)
    if count is None:
        return None
    body = Node("mul", (number(known[0]), Node("pow", (number(ratio), name(BOUND)))))
    return Node(kind, (number(0), number(count), body, number(len(first))), BOUND)


def _points(names: frozenset[str]) -> list[dict[str, Fraction]]:
    source = random.Random(5)  # noqa: S311
    return [{key: Fraction(source.randint(3, 40)) for key in sorted(names)} for _ in range(3)]


def _value(node: Node, point: Mapping[str, Fraction]) -> Value | None:
    try:
        return value_at(node, point)
    except (Undefined, ArithmeticError):
        return None


def _same(one: Node, two: Node) -> bool:
    for point in _points(free_names(one) | free_names(two)):
        left, right = _value(one, point), _value(two, point)
        if left is None or right is None or holds("=", left, right) is not True:
            return False
    return True


def _constant(node: Node) -> Fraction | None:
    """The value, if it is exact and the same everywhere."""
    values = {_value(node, point) for point in _points(free_names(node))}
    (only,) = values if len(values) == 1 else (None,)
    return only if isinstance(only, Fraction) else None
