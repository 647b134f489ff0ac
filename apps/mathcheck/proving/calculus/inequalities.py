"""Inequalities in one real name by derivatives, and strict ones in two or three bounded names on small boxes."""

from fractions import Fraction

from apps.mathcheck.proving.calculus.boxes import Box, boxes_needed
from apps.mathcheck.proving.calculus.derivatives import minus, plus
from apps.mathcheck.proving.calculus.ranges import range_of
from apps.mathcheck.proving.calculus.signs import positive
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.testing.work import PER_TRIAL, OutOfWork, allowance
from apps.mathcheck.tex.tree import BINDERS, Node, has, walk
from apps.mathcheck.tex.written import related

METHOD, BOXES = "signs of derivatives", "intervals on every box"
MOST_NAMES, LARGEST = 3, 60
_ORDERED = ("<", ">", r"\le", r"\ge", r"\ne")


def by_calculus(facts: Facts) -> Certificate | None:
    """An inequality of real names that are declared or restricted by conditions."""
    claim = facts.claim
    names = sorted(claim.names)
    if claim.relation not in _ORDERED or not 1 <= len(names) <= MOST_NAMES or any(key[:1] == "@" for key in names):
        return None
    if has(claim.left, *BINDERS) or has(claim.right, *BINDERS) or any(facts.bound(key).whole for key in names):
        return None
    larger, smaller = (claim.right, claim.left) if claim.relation in ("<", r"\le") else (claim.left, claim.right)
    difference = plus(larger, minus(smaller))
    if sum(1 for _ in walk(difference)) > LARGEST:
        return None
    for node in (difference, minus(difference))[: 2 if claim.relation == r"\ne" else 1]:
        found = _in_one(node, facts, names[0]) if len(names) == 1 else _in_boxes(node, facts, names)
        if found is not None:
            return found
    return None


def _in_one(node: Node, facts: Facts, key: str) -> Certificate | None:
    range_ = range_of(facts, key)
    if range_ is None:
        return None
    try:
        with allowance(PER_TRIAL):
            lines = positive(node, range_, facts.claim.relation not in (r"\le", r"\ge"))
    except OutOfWork:
        return None
    if lines is None:
        return None
    goal = f"to show: {related(facts.claim.left, facts.claim.relation, facts.claim.right)}"
    return Certificate(METHOD, (goal, *lines), facts.shown(facts.claim.names))


def _in_boxes(node: Node, facts: Facts, names: list[str]) -> Certificate | None:
    box: Box = {key: (low, high) for key in names for low, high in [_ends(facts, key)] if low is not None and high is not None}
    if len(box) < len(names):
        return None
    try:
        with allowance(PER_TRIAL):
            count = boxes_needed(node, box)
    except OutOfWork:
        return None
    if count is None:
        return None
    line = f"the difference has a positive value in each of {count} boxes that cover all values (interval arithmetic)"
    return Certificate(BOXES, (line,), facts.shown(facts.claim.names))


def _ends(facts: Facts, key: str) -> tuple[Fraction | None, Fraction | None]:
    range_ = range_of(facts, key)
    return (None, None) if range_ is None else range_.outer()
