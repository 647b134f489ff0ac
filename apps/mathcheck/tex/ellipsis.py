"""Ellipses: `1+2+\\dots+n` becomes a sum with a general term, if one general term fits all written terms."""

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import factorial

from apps.mathcheck.scope import is_prime
from apps.mathcheck.testing.evaluating import value_at
from apps.mathcheck.testing.values import Undefined, Value, holds
from apps.mathcheck.tex.notation import NotUnderstood
from apps.mathcheck.tex.tree import Node, free_names, has, name, number, rebuilt, substituted, walk

BOUND = "#"
STARTS = (1, 0, 2, 3, -1)
FACTORIALS = frozenset(factorial(value) for value in range(3, 20))


def expanded(node: Node) -> Node:
    """The tree with every ellipsis replaced by a sum or product; raises NotUnderstood if no rule fits."""

    def change(part: Node) -> Node | None:
        if part.op not in ("series", "run"):
            return None
        kind = "sum" if part.op == "series" else "prod"
        if _may_be_primes(part.args):
            raise NotUnderstood("an ellipsis that may run through primes")
        found = (
            _by_last_term(kind, part.args)
            or _by_places(kind, part.args)
            or _powers(kind, part.args)
            or _arithmetic(kind, part.args)
        )
        if found is None:
            raise NotUnderstood("an ellipsis whose rule is not clear")
        return found

    return rebuilt(node, change)


def _by_last_term(kind: str, terms: Sequence[Node]) -> Node | None:
    """A rule from the last term, which must give the first ones: `1\\cdot2 + 2\\cdot3 + … + n(n+1)`."""
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


def _may_be_primes(terms: Sequence[Node]) -> bool:
    """Whether all written terms may be primes: `2+3+…+97`, `3+5+7+…+p`."""
    numbers = [_whole(term) for term in terms]
    last = terms[-1].op == "name" and str(terms[-1].value)[0] in "pq"
    return all(is_prime(number or 0) for number in numbers[:-1]) and (last or is_prime(numbers[-1] or 0))


def _by_places(kind: str, terms: Sequence[Node]) -> Node | None:
    r"""A rule for terms that differ only in numbers with equal steps: `1\cdot2+2\cdot3+…+9\cdot10`, `1!+2!+…+5!`."""
    *first, last = terms
    written = [[node.value for node in walk(term) if node.op == "num"] for term in terms]
    if len(first) < 2 or any(free_names(term) for term in terms) or last.op == "num":
        return None
    if len({rebuilt(term, lambda node: number(0) if node.op == "num" else None) for term in terms}) > 1:
        return None
    steps: list[Fraction] = []
    counts: set[Fraction] = set()
    for column in zip(*written, strict=True):
        values = [Fraction(value or 0) for value in column]
        step = values[1] - values[0]
        if any(two - one != step for one, two in pairwise(values[:-1])) or (step == 0 and values[-1] != values[0]):
            return None
        steps.append(step)
        counts |= {(values[-1] - values[0]) / step} if step else set()
    moving = [step for step in steps if step]
    if len(counts) != 1 or (len(first) == 2 and len(moving) == 1 and abs(moving[0]) != 1):
        return None
    places = iter(zip(written[0], steps, strict=True))

    def moved(node: Node) -> Node | None:
        if node.op != "num":
            return None
        start, step = next(places)
        value = number(Fraction(start or 0))
        return Node("add", (value, Node("mul", (name(BOUND), number(step))))) if step else value

    return Node(kind, (number(0), number(counts.pop()), rebuilt(first[0], moved), number(len(first))), BOUND)


def _is_linear(node: Node) -> bool:
    """Whether it is a number, a name, a multiple of a name, or a sum of these."""
    if node.op in ("add", "neg"):
        return all(_is_linear(part) for part in node.args)
    if node.op == "mul":
        return len(node.args) == 2 and node.args[0].op == "num" and node.args[1].op == "name"
    return node.op in ("num", "name")


def _arithmetic(kind: str, terms: Sequence[Node]) -> Node | None:
    """A rule with equal steps, up or down: `1+2+…+100`, `n+(n-1)+…+1`.

    Two terms always fit, so with two the step must be 1, and the last term must fit no other common rule.
    """
    *first, last = terms
    if len(first) < 2 or not all(_is_linear(term) for term in first):
        return None
    if not _is_linear(last) and last.op not in ("pow", "div", "fn"):
        return None
    steps = [Node("add", (two, Node("neg", (one,)))) for one, two in pairwise(first)]
    step = _constant(steps[0])
    if step is None or step == 0 or any(_constant(other) != step for other in steps):
        return None
    if len(first) == 2 and (abs(step) != 1 or _fits_another_rule(last)):
        return None
    count = Node("div", (Node("add", (last, Node("neg", (first[0],)))), number(step)))
    body = Node("add", (first[0], Node("mul", (name(BOUND), number(step)))))
    return Node(kind, (number(0), count, body, number(len(first))), BOUND)


def _fits_another_rule(last: Node) -> bool:
    """Whether 1, 2, … may also be powers of two or factorials up to the last term."""
    value = _whole(last)
    if value is None:
        return has(last, "pow") or has(last, "fn")
    return value > 2 and (value & (value - 1) == 0 or value in FACTORIALS)


def _whole(node: Node) -> int | None:
    """The value, if it is the same whole number everywhere."""
    value = _constant(node)
    return int(value) if value is not None and value.denominator == 1 else None


def _powers(kind: str, terms: Sequence[Node]) -> Node | None:
    """A rule for numbers: `1^2+2^2+…+10^2` and, with three written terms, `1+2+4+…+64`."""
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
