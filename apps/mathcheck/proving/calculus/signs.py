"""Signs of functions of one real name, by what is known of their parts, by derivatives, and on small intervals.

`f ≥ 0` to the right of c follows from `f(c) ≥ 0` and `f' ≥ 0` there, to the left from `f' ≤ 0`. Between two ends it follows
from values that are not negative at both and `f'' ≤ 0`. This needs that f is continuous on the range with its ends, and that
the derivative exists inside. All functions here are analytic inside their ranges, so that a derivative that is positive at one
place is 0 at single places only; then f is strictly monotone.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from apps.mathcheck.proving.calculus.boxes import boxes_needed
from apps.mathcheck.proving.calculus.derivatives import OUTER, derivative, minus, plus
from apps.mathcheck.proving.calculus.parts import PI, ZERO, Lines, by_parts
from apps.mathcheck.proving.calculus.ranges import Range, sign_of, value_of
from apps.mathcheck.testing.evaluating import constant
from apps.mathcheck.tex.tree import Node, free_names, has, number
from apps.mathcheck.tex.written import written

DEEPEST = 3
#: Where a function may be 0, and where a half-line is cut.
_PLACES = (
    ZERO,
    number(1),
    number(-1),
    number(2),
    Node("const", value="e"),
    *(Node("div", (PI, number(at))) for at in (2, 3, 4, 6)),
)
_CUTS = (1, 2, 4, 8)


def positive(node: Node, range_: Range, strict: bool, depth: int = DEEPEST) -> Lines | None:
    """The lines of a proof that a function is > 0 (`strict`) or ≥ 0 at each place of the range."""
    if not is_smooth(node, range_, depth):
        return None
    return _positive(node, range_, strict, depth)


def _positive(node: Node, range_: Range, strict: bool, depth: int) -> Lines | None:
    for way in (by_parts, _by_concavity, _by_slope, _by_boxes, _in_two):
        found = way(node, range_, strict, depth)
        if found is not None:
            return found
    return None


def is_smooth(node: Node, range_: Range, depth: int) -> bool:
    """Whether a function is continuous on the range and has a derivative inside it, by what its parts need."""
    if range_.key not in free_names(node):
        return sign_of(node) is not None
    if node.op == "name":
        return True
    if not all(is_smooth(part, range_, depth) for part in node.args):
        return False
    if node.op in ("add", "mul", "neg"):
        return True
    if node.op == "div":
        return _is_nonzero(node.args[1], range_, depth)
    if node.op == "pow":
        return _is_smooth_power(node, range_, depth)
    if node.op != "fn" or node.value not in OUTER or len(node.args) != 1:
        return False
    inner = node.args[0]
    if node.value == "ln":
        return _holds(inner, range_, depth)
    if node.value == "sqrt":
        return _holds(inner, range_.inside, depth) and _holds(inner, range_, depth, strict=False)
    return node.value != "tan" or _is_nonzero(Node("fn", (inner,), "cos"), range_, depth)


def _is_smooth_power(node: Node, range_: Range, depth: int) -> bool:
    base, exponent = node.args
    if exponent.op == "num":
        value = Fraction(exponent.value or 0)
        if value.denominator == 1:
            return value > 0 or _is_nonzero(base, range_, depth)
    return base == Node("const", value="e") or _holds(base, range_, depth)


def _holds(node: Node, range_: Range, depth: int, strict: bool = True) -> bool:
    if range_.key not in free_names(node):
        return sign_of(node) in ((1,) if strict else (0, 1))
    return _positive(node, range_, strict, min(depth, 1)) is not None


def _is_nonzero(node: Node, range_: Range, depth: int) -> bool:
    return _holds(node, range_, depth) or _holds(minus(node), range_, depth)


def _by_slope(node: Node, range_: Range, strict: bool, depth: int) -> Lines | None:
    """The value at one place, and the sign of the derivative on both sides of it."""
    slope = derivative(node, range_.key) if depth else None
    if slope is None:
        return None
    ends = [end for end, _ in range_.ends]
    for place in _anchors(range_):
        at = value_of(node, range_.key, place)
        belongs = place not in [end for end, is_open in range_.ends if is_open]
        if at is None or at < 0 or (strict and at == 0 and belongs):
            continue
        if at > 0 and place not in ends and value_of(slope, range_.key, place) != 0:
            continue
        lines = Lines()
        for side, sign in _sides(range_, place):
            steep, shown = (slope, "not negative") if sign > 0 else (minus(slope), "not positive")
            found = _positive(steep, side.inside, False, depth - 1) if is_smooth(node, side, depth - 1) else None
            if found is None or (strict and at == 0 and not _is_somewhere_positive(steep, side)):
                break
            lines += [f"{side.inside.shown} the derivative of {written(node)} is {shown}:", *found]
        else:
            shown = "0" if at == 0 else "positive"
            return [f"at {range_.key} = {written(place)}, {written(node)} is {shown}", *lines]
    return None


def _is_somewhere_positive(node: Node, range_: Range) -> bool:
    """Whether a function, which is analytic inside the range, is not 0 everywhere."""
    low, high = range_.outer()
    if low is not None and high is not None:
        places = [low + (high - low) * Fraction(at, 8) for at in (3, 5)]
    elif low is not None:
        places = [low + 1, low + 3]
    else:
        places = [high - 1, high - 3] if high is not None else [Fraction(1), Fraction(-1)]
    return any(value_of(node, range_.key, number(place)) == 1 for place in places)


def _anchors(range_: Range) -> Iterator[Node]:
    ends = [end for end, _ in range_.ends]
    yield from ends
    for place in _PLACES:
        inside = range_.low is None or sign_of(plus(place, minus(range_.low))) == 1
        if inside and (range_.high is None or sign_of(plus(range_.high, minus(place))) == 1) and place not in ends:
            yield place


def _sides(range_: Range, place: Node) -> list[tuple[Range, int]]:
    """The closed parts to the left and right of a place, and the sign that a slope must have there."""
    right = replace(range_, low=place, low_open=False)
    left = replace(range_, high=place, high_open=False)
    return [(side, sign) for side, sign, end in ((right, 1, range_.high), (left, -1, range_.low)) if end != place]


def _by_concavity(node: Node, range_: Range, strict: bool, depth: int) -> Lines | None:
    """Values that are not negative at both ends, and a second derivative that is not positive between them."""
    if depth < 2 or range_.low is None or range_.high is None:
        return None
    closed = replace(range_, low_open=False, high_open=False)
    signs = [value_of(node, range_.key, end) for end, _ in range_.ends]
    if 0 not in signs or any(sign is None or sign < 0 for sign in signs):
        return None
    if strict and any(sign == 0 and not is_open for sign, (_, is_open) in zip(signs, range_.ends, strict=True)):
        return None
    first = derivative(node, range_.key)
    second = derivative(first, range_.key) if first is not None else None
    if second is None or not is_smooth(node, closed, 1):
        return None
    found = _positive(minus(second), range_.inside, False, depth - 2)
    if found is None or (strict and not _is_somewhere_positive(node, range_)):
        return None
    return [f"at both ends {written(node)} is not negative, and its second derivative is not positive between them:", *found]


def _by_boxes(node: Node, range_: Range, strict: bool, _depth: int) -> Lines | None:
    """Intervals that cover the whole range; the function is then positive."""
    low, high = range_.outer()
    if low is None or high is None or any(value_of(node, range_.key, end) != 1 for end, _ in range_.ends):
        return None
    count = boxes_needed(node, {range_.key: (low, high)})
    if count is None:
        return None
    return [f"{range_.shown}, {written(node)} > 0 in each of {count} intervals (interval arithmetic)"]


def _in_two(node: Node, range_: Range, strict: bool, depth: int) -> Lines | None:
    """The parts to both sides of a number, one of them by the derivative, the other by intervals."""
    if depth < DEEPEST - 1 or not has(node, "fn", "pow"):
        return None
    for cut in _cuts(range_):
        left, right = replace(range_, high=cut, high_open=False), replace(range_, low=cut, low_open=False)
        for bounded, other in ((left, right), (right, left)):
            easy = _by_boxes(node, bounded, strict, depth)
            rest = _by_slope(node, other, strict, depth) if easy is not None else None
            if easy is not None and rest is not None:
                return [*easy, *rest]
    return None


def _cuts(range_: Range) -> Iterator[Node]:
    low, high = (None if end is None else constant(end) for end in (range_.low, range_.high))
    if low is not None and range_.high is None:
        yield from (number(low + step) for step in _CUTS)
    elif high is not None and range_.low is None:
        yield from (number(high - step) for step in _CUTS)
    else:
        low, high = range_.outer()
        if low is not None and high is not None:
            yield from (number(low + (high - low) / step) for step in (2, 4, 16))
            yield from (number(high - (high - low) / step) for step in (4, 16))
