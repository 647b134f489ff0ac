"""Signs of functions by what is known of their parts: of sines, exponential functions and the like on a range."""

from collections.abc import Iterator
from fractions import Fraction

from apps.mathcheck.proving.calculus.boxes import enclosure
from apps.mathcheck.proving.calculus.derivatives import derivative, minus, plus
from apps.mathcheck.proving.calculus.ranges import Range, sign_of
from apps.mathcheck.proving.facts import Bound, Facts
from apps.mathcheck.proving.normal.forms import NoNormalForm
from apps.mathcheck.proving.normal.polynomials import System, system_of
from apps.mathcheck.proving.relations import plain_sign
from apps.mathcheck.scope import Condition, Domain
from apps.mathcheck.tex.tree import Node, free_names, number, substituted, walk
from apps.mathcheck.tex.written import written

PI = Node("const", value="pi")
ZERO = number(0)
#: Larger bounds of values are not used.
MOST = 10**6
Lines = list[str]


def by_parts(node: Node, range_: Range, strict: bool, _depth: int) -> Lines | None:
    """The sign of a polynomial in the name and in values of functions, by their ranges."""
    relation = ">" if strict else r"\ge"
    domains = {range_.key: Domain(declared=True)}
    try:
        system = system_of(Facts(Condition(relation, node, ZERO), domains, range_.conditions()))
        _narrow(system, node, range_)
        top, bottom = system.claim.top, system.claim.bottom
        lines = Lines()
        if bottom != 1:
            below = plain_sign(bottom, system, True)
            if below is None:
                top, below = -top, plain_sign(-bottom, system, True)
            if below is None:
                return None
            lines += [f"the denominator of {written(node)} has one sign:", *below[1]]
        found = plain_sign(top, system, strict)
    except NoNormalForm:
        return None
    return None if found is None else [f"{range_.shown}, {written(node)} {'>' if strict else '≥'} 0:", *lines, *found[1]]


def _narrow(system: System, node: Node, range_: Range) -> None:
    """Give the values of functions the ranges that they have on the range of the name."""
    for part in dict.fromkeys(part for part in walk(node) if part.op in ("fn", "pow")):
        key = system.algebra.generator_of(part)
        if key is None:
            continue
        for bound in _known(part, range_):
            system.bounds[key] = _tighter(system.bounds[key], bound)


def _tighter(one: Bound, two: Bound) -> Bound:
    low = max(((end.low, end.low_strict) for end in (one, two) if end.low is not None), default=(None, False))
    high = min(((end.high, not end.high_strict) for end in (one, two) if end.high is not None), default=(None, True))
    return Bound(low[0], low[1], high[0], not high[1], one.whole)


def _known(part: Node, range_: Range) -> Iterator[Bound]:
    """Ranges of the value of a function or power."""
    low, high = range_.outer()
    if low is not None and high is not None:
        found = enclosure(part, {range_.key: (low, high)})
        if found is not None and found.a > -MOST and found.b < MOST:
            yield Bound(_fraction(found.a), high=_fraction(found.b))
    zero = Fraction(0)
    if part.op == "pow":
        if part.args[0] == Node("const", value="e") or (sign_of(part.args[0]) if not free_names(part.args[0]) else 0) == 1:
            yield Bound(zero, True)
        return
    inner = part.args[0]
    if part.value == "exp":
        yield Bound(zero, True)
    elif part.value == "cosh":
        yield Bound(Fraction(1))
    elif part.value in ("sin", "cos"):
        if (strict := _angle(str(part.value), inner, range_)) is not None:
            yield Bound(zero, strict)
        if part.value == "sin" and _angle("cos", inner, range_):
            yield Bound(Fraction(-1), True, Fraction(1), True)
    elif part.value in ("sinh", "arctan", "tanh", "ln"):
        yield from _monotone(plus(inner, number(-1)) if part.value == "ln" else inner, range_)


def _monotone(node: Node, range_: Range) -> Iterator[Bound]:
    """The sign of a rising function, which is that of `node`."""
    for strict in (True, False):
        if by_parts(node, range_, strict, 0) is not None:
            yield Bound(Fraction(0), strict)
            return
        if by_parts(minus(node), range_, strict, 0) is not None:
            yield Bound(high=Fraction(0), high_strict=strict)
            return


def _angle(function: str, inner: Node, range_: Range) -> bool | None:
    """Whether a sine or cosine is > 0 (True) or ≥ 0 (False) by the quarter of the angle; None if neither is seen."""
    slope = derivative(inner, range_.key)
    if slope is None or free_names(slope) or range_.low is None or range_.high is None:
        return None
    ends = [(substituted(inner, {range_.key: end}), is_open) for end, is_open in range_.ends]
    if sign_of(slope) == -1:
        ends.reverse()
    shift = ZERO if function == "sin" else Node("div", (PI, number(2)))
    below = sign_of(plus(ends[0][0], shift))
    above = sign_of(plus(PI, minus(shift), minus(ends[1][0])))
    if below not in (0, 1) or above not in (0, 1):
        return None
    return all(sign == 1 or is_open for sign, (_, is_open) in zip((below, above), ends, strict=True))


def _fraction(value: object) -> Fraction:
    sign, mantissa, exponent, _ = value._mpi_[0]  # type: ignore[attr-defined]
    size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -size if sign else size
