"""Regions of the real line: how several relations join, and the normal form in which equal regions are equal."""

from collections.abc import Sequence
from functools import cmp_to_key, partial

from apps.reasoning.answers.values.equality import difference, number_sign
from apps.reasoning.answers.values.shapes import Named, Piece, Region, Scalar, Shape
from apps.reasoning.answers.values.terms import Term, names
from apps.reasoning.answers.work import Unreadable, Work


def region_of(shapes: Sequence[Shape], work: Work, *, has_and: bool) -> Shape:
    """One region of several parts of a list.

    `x > 1, x ≠ 3`: both hold. `n = 1, n ≥ 3`: one of them. Two inequalities side by side hold together where they say “and” or
    where either would otherwise say nothing; else it is not clear. Raises `Unreadable`.
    """
    regions = [one for one in shapes if isinstance(one, Region)]
    points = [_point(one) for one in shapes if not isinstance(one, Region)]
    holes, wide = [one for one in regions if _is_hole(one)], [one for one in regions if not _is_hole(one)]
    if points and not holes and len(wide) == 1 and not has_and:
        return Region((*wide[0].pieces, *(Piece(one, one, True, True) for one in points)), True)
    if points or len(wide) > 2:
        raise Unreadable("how the parts of it belong together is not clear")
    if len(wide) == 2:
        wide = [_both(wide[0], wide[1], work, has_and=has_and)]
    pieces = wide[0].pieces if wide else (Piece(None, None, False, False),)
    for one in holes:
        pieces = _without(pieces, one.pieces[0].high, work)
    return Region(pieces, any(one.by_relation for one in regions))


def _both(one: Region, two: Region, work: Work, *, has_and: bool) -> Region:
    first, second = one.pieces[0], two.pieces[0]
    if len(one.pieces) + len(two.pieces) > 2:
        raise Unreadable("how the parts of it belong together is not clear")
    if first.low is None and second.high is None:
        first, second = second, first
    if first.high is not None or second.low is not None:
        raise Unreadable("how the parts of it belong together is not clear")
    low, high = first.low, second.high
    if low is None or high is None:
        raise Unreadable("how the parts of it belong together is not clear")
    sign = None if names(low) | names(high) else number_sign(difference(high, low), work)
    if sign is None or (sign <= 0 and has_and):
        raise Unreadable("how the parts of it belong together is not clear")
    if sign <= 0:
        return Region((*two.pieces, *one.pieces), True)
    return Region((Piece(low, high, first.has_low, second.has_high),), True)


def _is_hole(region: Region) -> bool:
    pieces = region.pieces
    return len(pieces) == 2 and pieces[0].low is None and pieces[1].high is None and pieces[0].high == pieces[1].low


def _point(shape: Shape) -> Term:
    if isinstance(shape, Named) and not shape.args:
        return _point(shape.value)
    if isinstance(shape, Scalar) and not shape.unit:
        return shape.term
    raise Unreadable("how the parts of it belong together is not clear")


def _without(pieces: Sequence[Piece], hole: Term | None, work: Work) -> tuple[Piece, ...]:
    """The pieces without one number, which must be a plain one like their ends."""
    assert hole is not None
    found: list[Piece] = []
    for one in pieces:
        low = _sign(hole, one.low, work) if one.low is not None else 1
        high = _sign(one.high, hole, work) if one.high is not None else 1
        if low < 0 or high < 0:
            found.append(one)
        elif low and high:
            found += [Piece(one.low, hole, one.has_low, False), Piece(hole, one.high, False, one.has_high)]
        elif low or high:
            found.append(Piece(one.low, one.high, one.has_low and low > 0, one.has_high and high > 0))
    return tuple(found)


def _sign(one: Term, two: Term, work: Work) -> int:
    if names(one) | names(two):
        raise Unreadable("an end of an interval has letters")
    sign = number_sign(difference(one, two), work)
    if sign is None:
        raise Unreadable("which of two ends is larger is not certain")
    return sign


def has_letters(region: Region) -> bool:
    """Whether an end has letters, so that pieces have no known order."""
    return any(names(end) for one in region.pieces for end in (one.low, one.high) if end is not None)


def joined(region: Region, work: Work) -> Region:
    """The normal form: pieces in order, none empty, none that touch. Raises `Unreadable` where an order is not certain."""
    pieces = sorted((one for one in region.pieces if not _is_empty(one, work)), key=cmp_to_key(partial(_by_low, work)))
    found: list[Piece] = []
    for one in pieces:
        if found and _touch(found[-1], one, work):
            found[-1] = _hull(found[-1], one, work)
        else:
            found.append(one)
    return Region(tuple(found), region.by_relation)


def _is_empty(one: Piece, work: Work) -> bool:
    if one.low is None or one.high is None:
        return False
    sign = _sign(one.high, one.low, work)
    return sign < 0 or (sign == 0 and not (one.has_low and one.has_high))


def _by_low(work: Work, one: Piece, two: Piece) -> int:
    if one.low is None or two.low is None:
        return (one.low is not None) - (two.low is not None)
    return _sign(one.low, two.low, work) or two.has_low - one.has_low


def _touch(one: Piece, two: Piece, work: Work) -> bool:
    if one.high is None or two.low is None:
        return True
    sign = _sign(one.high, two.low, work)
    return sign > 0 or (sign == 0 and (one.has_high or two.has_low))


def _hull(one: Piece, two: Piece, work: Work) -> Piece:
    if one.high is None or two.high is None:
        return Piece(one.low, None, one.has_low, False)
    sign = _sign(one.high, two.high, work)
    high = one if sign >= 0 else two
    closed = one.has_high or two.has_high if not sign else high.has_high
    return Piece(one.low, high.high, one.has_low, closed)
