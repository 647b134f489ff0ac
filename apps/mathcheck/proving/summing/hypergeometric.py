"""Sums of hypergeometric terms: closed forms and recurrences by a certificate that is expanded.

A certificate G for the term F means `a_0 F(n, k) + … + a_J F(n + J, k) = G(k + 1) - G(k)`. Both sides are expanded for all k
from the first term to the last but one, with `k = first + i` and `n = … + i + j + 1` for i, j ≥ 0. There every denominator must
be nonzero, and every factorial that of a number that is not negative. Then the sum of the right side is G(last) - G(first).
"""

from dataclasses import dataclass, replace

from apps.mathcheck.proving.cases import together
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.normal.algebra import Algebra
from apps.mathcheck.proving.normal.forms import NoNormalForm
from apps.mathcheck.proving.relations import equation, inequality, where_of
from apps.mathcheck.proving.summing.binomials import by_definition
from apps.mathcheck.proving.summing.telescoping import Poly, Telescoped, over, telescoped
from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.testing.evaluating import constant
from apps.mathcheck.tex.tree import BINDERS, Node, free_names, has, name, number, rebuilt, substituted, walk
from apps.mathcheck.tex.written import written

_I, _J, _ONE = "#i", "#j", number(1)
_COUNTS = Domain(kind="integer", sign="nonnegative", declared=True)
_WHOLE = Domain(kind="integer", declared=True)


@dataclass(frozen=True, slots=True)
class Summed:
    """An expression for a sum whose upper end is at least `low`, a line that says why, and where it holds."""

    value: Node
    why: str
    where: str
    low: Node


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum of `term` for `key` from `low` to `high`. `end` is the name n of `high = n + shift`, "" if it has no such name."""

    key: str
    low: Node
    high: Node
    term: Node
    end: str
    shift: int

    def at(self, place: Node) -> Node:
        """The term at a place."""
        return substituted(self.term, {self.key: place})


def closed_sum(part: Node, facts: Facts) -> Summed | None:
    """The sum without a sum sign. If the certificate has a pole at the first term, that is split off."""
    found = _closed(part, facts)
    if found is not None or part.op != "sum":
        return found
    found = _closed(_later(part), facts)
    return None if found is None else replace(found, value=plus(_first(part), found.value))


def _later(part: Node) -> Node:
    low, high, body = part.args[:3]
    return Node("sum", (plus(low, _ONE), high, body), part.value)


def _first(part: Node) -> Node:
    return substituted(part.args[2], {str(part.value): part.args[0]})


def _closed(part: Node, facts: Facts) -> Summed | None:
    one = _sum_of(part, facts)
    if one is None or (one.end == "" and free_names(one.high) & free_names(one.term)):
        return None
    found = _certified(one, facts, 0)
    if found is None:
        return None
    (scale,), factor, where = found[0].shifts, found[0].factor, found[1]
    rise = plus(_summand(one, factor, one.high), minus(_summand(one, factor, one.low)))
    rest = over(rise, scale)
    telescope = Node("mul", (over(factor, scale), one.term))
    why = f"the term is T({one.key} + 1) - T({one.key}) for T = {written(telescope)}"
    return Summed(plus(one.at(one.high), rest), why, where, one.low)


def grown_sum(part: Node, key: str, now: Node, facts: Facts) -> tuple[Summed, int] | None:
    """The sum at n + 1 by its value `now` at n, for a term that contains n; and the least n at which this holds."""
    found = _grown(part, now, facts)
    if found is not None or part.op != "sum":
        return found
    first = _first(part)
    found = _grown(_later(part), plus(now, minus(first)), facts)
    if found is None:
        return None
    after = substituted(first, {key: plus(name(key), _ONE)})
    return replace(found[0], value=plus(after, found[0].value)), found[1]


def _grown(part: Node, now: Node, facts: Facts) -> tuple[Summed, int] | None:
    one = _sum_of(part, facts)
    low = None if one is None else constant(one.low)
    if one is None or not one.end or low is None or low.denominator != 1 or one.end not in free_names(one.term):
        return None
    found = _certified(one, facts, 1)
    if found is None:
        return None
    (scale, next_scale), factor, where = found[0].shifts, found[0].factor, found[1]
    after = _with_next(one)
    new = plus(substituted(after, {one.key: one.high}), substituted(after, {one.key: plus(one.high, _ONE)}))
    rise = plus(_summand(one, factor, one.high), minus(_summand(one, factor, one.low)))
    total = plus(Node("mul", (scale, plus(one.at(one.high), minus(now)))), Node("mul", (next_scale, new)), rise)
    shown = f"({written(scale)})*F({one.end}) + ({written(next_scale)})*F({one.end} + 1)"
    why = f"with the term F, {shown} is G({one.key} + 1) - G({one.key}) for G = ({written(factor)})*F"
    return Summed(over(total, next_scale), why, where, one.low), int(low) - one.shift


def plus(*parts: Node) -> Node:
    return Node("add", parts)


def minus(part: Node) -> Node:
    return Node("neg", (part,))


def _with_next(one: _Sum) -> Node:
    return substituted(one.term, {one.end: plus(name(one.end), _ONE)})


def _summand(one: _Sum, factor: Node, place: Node) -> Node:
    return Node("mul", (substituted(factor, {one.key: place}), one.at(place)))


def _sum_of(part: Node, facts: Facts) -> _Sum | None:
    low, high, body = part.args[:3]
    key = str(part.value)
    if part.op != "sum" or has(body, *BINDERS) or key in free_names(low) | free_names(high) or key in (_I, _J):
        return None
    if any(one[:1] == "@" or not _may_be_whole(facts, one) for one in free_names(low) | free_names(high)):
        return None
    term = rebuilt(body, _by_factorials)
    ends = sorted(free_names(high) - free_names(low))
    end, shift = (ends[0], constant(plus(high, minus(name(ends[0]))))) if len(ends) == 1 else ("", None)
    if end and shift is None:
        values = [constant(substituted(high, {end: number(at)})) for at in (0, 1, 7)]
        if None not in values and [value - (values[0] or 0) for value in values if value is not None] == [0, 1, 7]:
            shift = values[0]
    if shift is None or shift.denominator != 1 or free_names(high) != {end}:
        return _Sum(key, low, high, term, "", 0)
    return _Sum(key, low, high, term, end, int(shift))


def _may_be_whole(facts: Facts, key: str) -> bool:
    domain = facts.domains.get(key)
    return domain is None or not domain.declared or domain.kind == "integer"


def _by_factorials(part: Node) -> Node | None:
    is_choice = part.op == "fn" and part.value == "binom" and constant(part.args[1]) is None
    return by_definition(part) if is_choice else None


def _certified(one: _Sum, facts: Facts, order: int) -> tuple[Telescoped, str] | None:
    """A certificate whose identity was expanded, and where it holds."""
    proposed = _proposed(one, facts, order)
    if proposed is None:
        return None
    terms = [one.term, _with_next(one)][: order + 1]
    scaled = [Node("mul", (scale, term)) for scale, term in zip(proposed.shifts, terms, strict=True)]
    summand = Node("mul", (proposed.factor, one.term))
    rise = plus(substituted(summand, {one.key: plus(name(one.key), _ONE)}), minus(summand))
    inside = [where_of(_over_range(one, facts, part, part, 0)) for part in (summand, *terms)]
    if any(where is None for where in inside) or not _has_factorials(one, facts, terms):
        return None
    found = equation(_over_range(one, facts, plus(*scaled), rise, 1))
    if found is None:
        return None
    return proposed, together([found.where, *(where or "" for where in inside)])


def _over_range(one: _Sum, facts: Facts, left: Node, right: Node, least: int, relation: str = "=") -> Facts:
    """A relation for all k from the first term to `least` before the last, in the names i and j."""
    i = name(_I)
    values = {one.key: plus(one.low, i)}
    if one.end:
        values[one.end] = plus(one.low, i, name(_J), number(least - one.shift))
    domains = {key: value for key, value in facts.domains.items() if key not in values}
    for key in free_names(one.low) | free_names(one.high):
        domains[key] = domains.get(key, Domain()).merged(_WHOLE)
    domains |= {_I: _COUNTS, _J: _COUNTS}
    domains.pop(one.end, None)
    kept = tuple(one_.replaced(values) for one_ in facts.conditions if one.key not in one_.names)
    return Facts(Condition(relation, substituted(left, values), substituted(right, values)), domains, kept)


def _has_factorials(one: _Sum, facts: Facts, terms: list[Node]) -> bool:
    """Whether every factorial of the terms is that of a whole number that is at least 0, for all terms of the sum."""
    for part in dict.fromkeys(part for term in terms for part in walk(term) if part.op == "fn" and part.value == "factorial"):
        found = inequality(_over_range(one, facts, part.args[0], number(0), 0, r"\ge"))
        if found is None or found.where or not all(_may_be_whole(facts, key) for key in free_names(part)):
            return False
    return True


def _proposed(one: _Sum, facts: Facts, order: int) -> Telescoped | None:
    """A certificate by the quotients of neighbouring terms."""
    whole = {key: _WHOLE for key in (one.key, one.end) if key}
    algebra = Algebra({**facts.domains, **whole})
    nodes = [one.term, one.at(plus(name(one.key), _ONE))] + ([_with_next(one)] if order else [])
    try:
        first, *others = algebra.over(*nodes)
        if first.top == 0:
            return None
        divided = [(other.top * first.bottom).cancel(other.bottom * first.top) for other in others]
    except NoNormalForm:
        return None
    ratios = _over_names(divided, algebra, one.key)
    if ratios is None:
        return None
    ring = ratios[0][0].ring
    return telescoped(ratios[0], [(ring.one, ring.one), *ratios[1:]])


def _over_names(quotients: list[tuple[Poly, Poly]], algebra: Algebra, key: str) -> list[tuple[Poly, Poly]] | None:
    """The fractions over the names in them, the given one first; None if other parts occur."""
    keys, others = algebra.names(), set(algebra.others())
    polys = [poly for pair in quotients for poly in pair]
    used = {keys[at] for poly in polys for monomial in poly.itermonoms() for at, power in enumerate(monomial) if power}
    if used & others:
        return None
    order = [key, *sorted(used - {key})]
    ring = polys[0].ring.clone(symbols=order)
    places = [keys.index(one) if one in keys else None for one in order]

    def moved(poly: Poly) -> Poly:
        terms = poly.iterterms()
        return ring.from_dict({tuple(0 if at is None else monomial[at] for at in places): value for monomial, value in terms})

    return [(moved(top), moved(bottom)) for top, bottom in quotients]
