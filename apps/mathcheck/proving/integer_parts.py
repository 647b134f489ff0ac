"""Integer parts: residue classes of whole names, the fractional part of a real name, and what an integer part means.

- In each residue class, the integer part of a polynomial with rational coefficients is a polynomial.
- With `x = m + f`, the integer part of `2x + 1/3` is `2m` and a number, as long as f stays between two multiples of 1/6.
- `floor(u) = m` for a whole m means `m ≤ u < m + 1`. Else each integer part becomes a new whole name with these bounds.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import floor, lcm
from typing import Any

from apps.mathcheck.proving.cases import calls, is_plain, replaced, together
from apps.mathcheck.proving.certificate import Certificate
from apps.mathcheck.proving.facts import Facts
from apps.mathcheck.proving.normal.algebra import Algebra
from apps.mathcheck.proving.normal.forms import constant_of, is_constant
from apps.mathcheck.proving.relations import related_by, where_of
from apps.mathcheck.proving.whole import is_clear
from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.tex.tree import Node, free_names, name, number, substituted, walk
from apps.mathcheck.tex.written import related, written

CLASSES, FRACTIONS, BOUNDS = "every residue class", "every range of the fractional part", "bounds of integer parts"
MOST_CLASSES, LARGEST_CLASS = 64, 24
_PARTS = ("floor", "ceil")


def by_integer_parts(facts: Facts) -> Certificate | None:
    """A claim with integer parts, by the first way that works."""
    found = calls(facts.claim, _PARTS)
    where = where_of(facts) if found and is_plain(facts) else None
    if where is None:
        return None
    for way in (_by_classes, _by_fractions, _by_definition, _by_bounds):
        if (proof := way(facts, found)) is not None:
            return replace(proof, where=together([where, proof.where]))
    return None


def _polynomials(facts: Facts, parts: list[Node]) -> list[Any] | None:
    """The arguments of the integer parts as polynomials; None if one is no polynomial."""
    algebra = Algebra(facts.domains)
    forms = algebra.over(*(part.args[0] for part in parts))
    if algebra.others() or any(not is_constant(form.bottom) for form in forms):
        return None
    return [form.top.mul_ground(1 / form.bottom.coeff(1)) for form in forms]


def _by_classes(facts: Facts, parts: list[Node]) -> Certificate | None:
    """Whole names as `q*n' + r`, where all denominators under integer parts divide q."""
    names = sorted(facts.claim.names)
    tops = _polynomials(facts, parts) if all(facts.is_whole(key) for key in names) else None
    if tops is None:
        return None
    size = lcm(*(int(value.denominator) for top in tops for value in top.itercoeffs()))
    if any(facts.domains[key].parity is not None for key in names):
        size = lcm(size, 2)
    if size > LARGEST_CLASS or size ** len(names) > MOST_CLASSES:
        return None
    domains = {f"{key}'": Domain(kind="integer", declared=True) for key in names}
    steps = []
    for rests in product(range(size), repeat=len(names)):
        chosen = dict(zip(names, rests, strict=True))
        if any(facts.domains[key].parity not in (None, rest % 2) for key, rest in chosen.items()):
            continue
        values = {
            key: Node("add", (Node("mul", (number(size), name(f"{key}'"))), number(rest))) for key, rest in chosen.items()
        }
        known = {part: _whole_part(substituted(part, values)) for part in parts}
        step = _step(facts, known, values, domains, ())
        if step is None:
            return None
        steps.append(step)
    return Certificate(CLASSES, tuple(steps), facts.shown(facts.claim.names)) if steps else None


def _in_class(key: str, size: int, rest: int) -> Node:
    return Node("add", (Node("mul", (number(size), name(f"{key}'"))), number(rest)))


def _whole_part(part: Node) -> Node:
    """The integer part of a polynomial whose coefficients are whole, apart from the constant term."""
    algebra = Algebra({})
    (form,) = algebra.over(part.args[0])
    constant = constant_of(form.top) / constant_of(form.bottom)
    return Node("add", (part.args[0], number(_rounded(part, constant) - constant)))


def _rounded(part: Node, value: Fraction) -> int:
    return floor(value) if part.value == "floor" else -floor(-value)


def _by_fractions(facts: Facts, parts: list[Node]) -> Certificate | None:
    """One real name as `x = m + f`; between two multiples of 1/q the integer parts of its multiples do not change."""
    tops = _polynomials(facts, parts) if len(facts.claim.names) == 1 else None
    if tops is None:
        return None
    (key,) = facts.claim.names
    slopes = [constant_of(top.diff(top.ring.gens[0])) for top in tops]
    shifts = [constant_of(top) for top in tops]
    if any(max(map(sum, top.itermonoms()), default=0) > 1 for top in tops) or any(one.denominator != 1 for one in slopes):
        return None
    size = lcm(*(abs(int(slope) or 1) * shift.denominator for slope, shift in zip(slopes, shifts, strict=True)))
    if size > LARGEST_CLASS or key not in facts.domains:
        return None
    whole, rest, steps = name("M'"), name("f'"), []
    domains = {"M'": Domain(kind="integer", declared=True), "f'": Domain(declared=True)}
    for value, sample, bounds in _ranges(whole, rest, size):
        known = {
            part: Node("add", (Node("mul", (number(slope), whole)), number(_rounded(part, slope * sample + shift))))
            for part, slope, shift in zip(parts, slopes, shifts, strict=True)
        }
        step = _step(facts, known, {key: value}, domains, bounds)
        if step is None:
            return None
        steps.append(step)
    return Certificate(FRACTIONS, ("x = m + f with m whole and 0 ≤ f < 1", *steps), facts.shown(facts.claim.names))


def _ranges(whole: Node, rest: Node, size: int) -> Iterator[tuple[Node, Fraction, tuple[Condition, ...]]]:
    """`x` and a value of its fractional part, at each multiple of 1/size and between two of them."""
    for place in range(size):
        low, high = Fraction(place, size), Fraction(place + 1, size)
        yield Node("add", (whole, number(low))), low, ()
        bounds = (Condition(">", rest, number(low)), Condition("<", rest, number(high)))
        yield Node("add", (whole, rest)), (low + high) / 2, bounds


def _step(
    facts: Facts,
    known: dict[Node, Node],
    values: dict[str, Node],
    domains: dict[str, Domain],
    bounds: tuple[Condition, ...],
) -> str | None:
    """The line of the proof in one case."""
    claim = replaced(facts.claim, known).replaced(values)
    ranges = list(bounds)
    for key, value in values.items():
        bound = facts.bound(key)
        if bound.low is not None:
            ranges.append(Condition(">" if bound.low_strict else r"\ge", value, number(bound.low)))
        if bound.high is not None:
            ranges.append(Condition("<" if bound.high_strict else r"\le", value, number(bound.high)))
    conditions = (*(one.replaced(values) for one in facts.conditions), *ranges)
    found = related_by(Facts(claim, {**facts.domains, **domains}, conditions))
    if found is None or found.where:
        return None
    shown = ", ".join(f"{key} = {written(value)}" for key, value in values.items())
    limits = ", ".join(related(one.left, one.relation, one.right) for one in bounds)
    return f"{shown}{f' with {limits}' if limits else ''}: {related(claim.left, claim.relation, claim.right)}"


def _by_definition(facts: Facts, _parts: list[Node]) -> Certificate | None:
    """`floor(u) = m` as `m ≤ u` and `u < m + 1`, for a whole m."""
    claim = facts.claim
    if claim.relation != "=":
        return None
    for part, value in ((claim.left, claim.right), (claim.right, claim.left)):
        if part.op != "fn" or part.value not in _PARTS or any(one.op == "fn" for one in walk(value)):
            continue
        if not is_clear(value) or not all(facts.is_whole(key) for key in free_names(value)):
            continue
        low, high = ("<", r"\le") if part.value == "ceil" else (r"\le", "<")
        shift = number(-1 if part.value == "ceil" else 1)
        ends = sorted([(0, value), (1, Node("add", (value, shift)))], reverse=part.value == "ceil")
        (_, least), (_, most) = ends
        proofs = [
            related_by(replace(facts, claim=Condition(relation, one, two)))
            for relation, one, two in ((low, least, part.args[0]), (high, part.args[0], most))
        ]
        if all(proofs):
            known = [one for one in proofs if one is not None]
            lines = tuple(line for one in known for line in one.steps)
            first = f"{written(part)} is the whole number m with {'m - 1 < u ≤ m' if part.value == 'ceil' else 'm ≤ u < m + 1'}"
            assumed = tuple(dict.fromkeys(line for one in known for line in one.assumptions))
            return Certificate(BOUNDS, (first, *lines), assumed, together([one.where for one in known]))
    return None


def _by_bounds(facts: Facts, parts: list[Node]) -> Certificate | None:
    """Each integer part as a new whole name with its two bounds."""
    if any(one.op == "fn" and one.value in _PARTS for call in parts for part in call.args for one in walk(part)):
        return None
    symbols = {call: name(f"N{at}") for at, call in enumerate(parts, 1)}
    conditions, domains, lines = list(facts.conditions), dict(facts.domains), []
    for call, symbol in symbols.items():
        inner, one = call.args[0], number(1)
        if call.value == "floor":
            bounds = [Condition(r"\le", symbol, inner), Condition("<", inner, Node("add", (symbol, one)))]
        else:
            bounds = [Condition(r"\ge", symbol, inner), Condition("<", symbol, Node("add", (inner, one)))]
        conditions += bounds
        domains[str(symbol.value)] = Domain(kind="integer", declared=True)
        lines.append(f"{symbol.value} = {written(call)}")
    found = related_by(Facts(replaced(facts.claim, dict(symbols)), domains, tuple(conditions)))
    if found is None or any(str(symbol.value) in found.where for symbol in symbols.values()):
        return None
    return Certificate(BOUNDS, (*lines, *found.steps), facts.shown(facts.claim.names), found.where)
