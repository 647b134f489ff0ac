"""Sequences, and functions of a whole number, that are given by first values and a recurrence."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from apps.mathcheck.scope import Condition, Scope
from apps.mathcheck.testing.evaluating import constant, value_at
from apps.mathcheck.testing.values import Undefined
from apps.mathcheck.testing.work import spend
from apps.mathcheck.tex.tree import Node, free_names, name, number, rebuilt, substituted, walk
from apps.mathcheck.tex.written import related

#: `LONGEST_TERM` in bits.
HIGHEST_ORDER, LONGEST_TERM = 4, 2_000
INDEX = "m"


@dataclass(frozen=True, slots=True)
class Recurrence:
    """`a_{m+order}` is `rule` in the names `W0` … `W{order-1}` (for `a_m` …) and `m`, for every m from `first` on."""

    first: int
    order: int
    start: tuple[Fraction, ...]
    rule: Node
    shown: tuple[str, ...]

    def terms(self, most: int) -> tuple[Fraction, ...]:
        """The first terms, fewer than `most` if one has no exact value or too many digits."""
        found = list(self.start)
        while len(found) < most:
            at = len(found) - self.order
            point = {f"W{place}": found[at + place] for place in range(self.order)} | {INDEX: Fraction(self.first + at)}
            try:
                value = value_at(self.rule, point)
            except (Undefined, ZeroDivisionError):
                break
            if not isinstance(value, Fraction) or value.numerator.bit_length() + value.denominator.bit_length() > LONGEST_TERM:
                break
            spend(4)
            found.append(value)
        return tuple(found)


def recurrences_in(scope: Scope) -> dict[str, Recurrence]:
    """The sequences that equations of the scope determine."""
    equations = [one for one in scope.conditions if one.relation == "=" and one.modulus is None]
    letters = {str(part.value) for one in equations for side in (one.left, one.right) for part in walk(side) if is_term(part)}
    found = {letter: _recurrence(letter, equations) for letter in sorted(letters)}
    return {letter: one for letter, one in found.items() if one is not None}


def _recurrence(letter: str, equations: Sequence[Condition]) -> Recurrence | None:
    sides = [(with_items(one.left, letter), with_items(one.right, letter)) for one in equations]
    start = _first_values(letter, sides)
    rules = [rule for one, two in sides for pair in ((one, two), (two, one)) if (rule := _rule(letter, *pair)) is not None]
    if not start or len({repr(rule) for rule in rules}) != 1:
        return None
    order, body = rules[0]
    first = min(start)
    values = tuple(start[first + step] for step in range(len(start)) if first + step in start)
    if not order <= len(values) or len(values) != len(start) or order > HIGHEST_ORDER:
        return None
    about = [one for one in equations if mentions(one, letter) or any(key.startswith(f"{letter}_") for key in one.names)]
    shown = tuple(related(one.left, one.relation, one.right) for one in about)
    found = Recurrence(first, order, values[:order], body, shown)
    return found if found.terms(len(values))[: len(values)] == values else None


def ends_before(rule: Condition, own: Sequence[Condition], known: Sequence[Condition]) -> bool:
    """Whether a rule may not hold for all terms: `a_{n+1} = 2a_n` for `n ≤ 5`, or for `n ≥ 5` if `a_1` is the first known.

    `own` are the conditions of its sentence, `known` all conditions.
    """
    terms = [part for side in (rule.left, rule.right) for part in walk(side) if is_term(part) and free_names(part.args[0])]
    for key in {key for part in terms for key in free_names(part.args[0])}:
        limits = [one for one in own if key in one.names and one != rule]
        starts = [_lower(one, key) for one in limits]
        if any(start is None for start in starts):
            return True
        shifts = [shift for part in terms if (shift := shift_of(part.args[0], key)) is not None]
        sides = [(with_items(one.left, str(terms[0].value)), with_items(one.right, str(terms[0].value))) for one in known]
        first = min(_first_values(str(terms[0].value), sides), default=None)
        if starts and (
            first is None or not shifts or max(start for start in starts if start is not None) + min(shifts) > first
        ):
            return True
    return False


def _lower(condition: Condition, key: str) -> int | None:
    """c, if the condition is `key ≥ c` with whole c."""
    sides = {r"\ge": (condition.left, condition.right, 0), ">": (condition.left, condition.right, 1)}
    sides |= {r"\le": (condition.right, condition.left, 0), "<": (condition.right, condition.left, 1)}
    name_, limit, more = sides.get(condition.relation, (condition.left, condition.right, 0))
    value = constant(limit)
    if condition.relation not in sides or name_.op != "name" or name_.value != key or value is None or value.denominator != 1:
        return None
    return int(value) + more


def _first_values(letter: str, sides: Sequence[tuple[Node, Node]]) -> dict[int, Fraction]:
    """Values of single terms, also through `F_1 = F_2 = 1`."""
    found: dict[int, Fraction] = {}
    for _ in range(3):
        for one, two in (pair for left, right in sides for pair in ((left, right), (right, left))):
            at = _place(one, letter)
            if at is None:
                continue
            other = _place(two, letter)
            value = found.get(other) if other is not None else constant(two)
            if value is not None:
                found.setdefault(at, value)
    return found


def _rule(letter: str, left: Node, right: Node) -> tuple[int, Node] | None:
    """`(order, body)` of `a_{n+c} = …` with earlier terms on the right."""
    if not is_term(left) or left.value != letter or len(free_names(left.args[0])) != 1:
        return None
    (key,) = free_names(left.args[0])
    top = shift_of(left.args[0], key)
    shifts = [shift_of(part.args[0], key) for part in walk(right) if is_term(part) and part.value == letter]
    if top is None or not shifts or any(shift is None or shift >= top for shift in shifts):
        return None
    order = top - min(shift for shift in shifts if shift is not None)
    if not free_names(right) <= {key, f"{letter}()"} or order > HIGHEST_ORDER:
        return None

    def windowed(part: Node) -> Node | None:
        if not is_term(part):
            return None
        return name(f"W{(shift_of(part.args[0], key) or 0) - top + order}")

    body = rebuilt(right, windowed)
    return order, substituted(body, {key: Node("add", (name(INDEX), number(order - top)))})


def is_term(node: Node) -> bool:
    """Whether it is a term of a sequence, or the value of a function of one name."""
    return node.op == "item" or (node.op == "apply" and len(node.args) == 1)


def mentions(claim: Condition, letter: str) -> bool:
    """Whether terms of a sequence occur in it, apart from names such as `a_1`."""
    return f"{letter}()" in claim.names


def with_items(node: Node, letter: str) -> Node:
    """The tree with names such as `a_1` as terms."""

    def change(part: Node) -> Node | None:
        base, underscore, index = str(part.value).partition("_") if part.op == "name" else ("", "", "")
        return Node("item", (number(int(index)),), letter) if underscore and base == letter and index.isdigit() else None

    return rebuilt(node, change)


def _place(node: Node, letter: str) -> int | None:
    if not is_term(node) or node.value != letter or free_names(node.args[0]):
        return None
    value = constant(node.args[0])
    return int(value) if value is not None and value.denominator == 1 else None


def shift_of(index: Node, key: str) -> int | None:
    """c, if the index is `key + c`."""
    if free_names(index) != {key}:
        return None
    try:
        values = [value_at(index, {key: Fraction(at)}) for at in (0, 1, 5)]
    except (Undefined, ArithmeticError):
        return None
    zero, one, five = values
    whole = isinstance(zero, Fraction) and zero.denominator == 1
    return int(zero) if whole and one - zero == 1 and five - zero == 5 else None
