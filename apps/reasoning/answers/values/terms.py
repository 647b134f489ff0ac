"""Expressions of answers as trees. `term_reading.py` reads them, `values.py` evaluates them."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, Union


class Term(NamedTuple):
    """`op` is number, name, add, mul, div, pow, root, choose (± or ∓) or the name of a function."""

    op: str
    args: tuple["Term", ...] = ()
    value: Union[Fraction, str, None] = None  # noqa: UP007  (with a forward reference)


MINUS_ONE = Term("number", (), Fraction(-1))
CONSTANTS = {r"\pi": "π", "e": "e"}


def add(*parts: Term) -> Term:
    return parts[0] if len(parts) == 1 else Term("add", parts)


def mul(*parts: Term) -> Term:
    return parts[0] if len(parts) == 1 else Term("mul", parts)


def minus(one: Term) -> Term:
    if one.op == "number":
        return number(-Fraction(one.value or 0))
    return Term("mul", (MINUS_ONE, one))


def number(value: Fraction | int | str) -> Term:
    return Term("number", (), Fraction(value))


def nodes(term: Term) -> Iterator[Term]:
    """The term and all below it."""
    stack = [term]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(one.args)


def names(term: Term) -> frozenset[str]:
    """The letters of a term; π, e and ∞ are none."""
    return frozenset(str(one.value) for one in nodes(term) if one.op == "name" and one.value != r"\infty")


def replaced(term: Term, values: dict[str, Term]) -> Term:
    """The term with other terms for some of its letters."""
    if term.op == "name":
        return values.get(str(term.value), term)
    return term._replace(args=tuple(replaced(one, values) for one in term.args)) if term.args else term


def depth_of(term: Term) -> int:
    """How many operations follow from each other."""
    most, stack = 0, [(term, 1)]
    while stack:
        one, depth = stack.pop()
        most = max(most, depth)
        stack.extend((part, depth + 1) for part in one.args)
    return most


def signs(term: Term) -> tuple[Term, ...]:
    """The terms that ± abbreviates: all its signs together are above or below."""
    if all(one.op != "choose" for one in nodes(term)):
        return (term,)
    return (_chosen(term, r"\pm"), _chosen(term, r"\mp"))


def _chosen(term: Term, upper: str) -> Term:
    args = tuple(_chosen(one, upper) for one in term.args)
    if term.op == "choose":
        return args[0] if term.value == upper else minus(args[0])
    return term._replace(args=args)


def without_degrees(term: Term) -> Term:
    """The term with its angles as plain numbers of degrees; arguments of functions stay angles."""
    if term.op == "degrees":
        return term.args[0]
    if term.op not in ("add", "mul", "div"):
        return term
    return term._replace(args=tuple(without_degrees(one) for one in term.args))


def is_mixed_number(whole: Term, part: Term) -> bool:
    """Whether a whole number is followed by a proper fraction of whole numbers."""
    numbers = (whole, *part.args)
    if part.op != "div" or any(one.op != "number" or Fraction(one.value or 0).denominator != 1 for one in numbers):
        return False
    top, bottom = (Fraction(one.value or 0) for one in part.args)
    return 0 < top < bottom
