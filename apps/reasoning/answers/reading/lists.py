"""What several parts of an answer are together: a set, a union of intervals, values of several letters."""

from collections.abc import Sequence

from apps.reasoning.answers.values.regions import region_of
from apps.reasoning.answers.values.shapes import (
    Assigned,
    Conditioned,
    Many,
    Named,
    Ordered,
    Piece,
    Region,
    Scalar,
    Shape,
    Words,
)
from apps.reasoning.answers.values.terms import Term
from apps.reasoning.answers.work import Unreadable, Work

MOST_ITEMS = 200


def union(shapes: Sequence[Shape], work: Work) -> Shape:
    if all(isinstance(one, Region) for one in shapes):
        pieces = tuple(piece for one in shapes if isinstance(one, Region) for piece in one.pieces)
        return Region(pieces, any(isinstance(one, Region) and one.by_relation for one in shapes))
    if any(isinstance(one, Region) for one in shapes):
        return Region(tuple(piece for one in shapes for piece in pieces_of(one)), True)
    return together(shapes, work, may_assign=False)


def together(shapes: Sequence[Shape], work: Work, *, has_and: bool = False, may_assign: bool = True) -> Shape:
    """What several parts of a list are: an assignment, a region, or a set."""
    names = [one.name for one in shapes if isinstance(one, Named) and not one.args]
    if may_assign and len(names) == len(shapes) and len(set(names)) == len(names):
        return Assigned(tuple((one.name, one.value) for one in shapes if isinstance(one, Named)))
    if isinstance(shapes[0], Scalar | Ordered) and any(map(_is_relation, shapes)):
        raise Unreadable("the meaning of a relation after a value is not clear")
    if any(isinstance(one, Region) for one in shapes):
        return region_of(shapes, work, has_and=has_and)
    if names and isinstance(shapes[0], Named) and len(names) == 1 and not shapes[0].args:
        return Named(names[0], (), set_of([shapes[0].value, *shapes[1:]]))
    if len(names) == len(shapes) and len(set(names)) == 1:
        return Named(names[0], (), set_of([one.value for one in shapes if isinstance(one, Named)]))
    return set_of(shapes)


def _is_relation(shape: Shape) -> bool:
    return isinstance(shape, Named | Assigned) or (isinstance(shape, Region) and shape.by_relation)


def set_of(shapes: Sequence[Shape]) -> Shape:
    items: list[Shape] = []
    for one in shapes:
        items += one.items if isinstance(one, Many) and not one.is_braced else [one]
    if any(isinstance(one, Words | Conditioned) for one in items):
        raise Unreadable("a part of it is not read")
    if len(items) > MOST_ITEMS:
        raise Unreadable(f"it lists more than {MOST_ITEMS} values")
    return items[0] if len(items) == 1 else Many(tuple(items))


def around(term: Term) -> tuple[Piece, ...]:
    return Piece(None, term, False, False), Piece(term, None, False, False)


def pieces_of(shape: Shape) -> tuple[Piece, ...]:
    if isinstance(shape, Region):
        return shape.pieces
    if isinstance(shape, Many):
        return tuple(piece for one in shape.items for piece in pieces_of(one))
    term = term_of(shape)
    return (Piece(term, term, True, True),)


def term_of(shape: Shape) -> Term:
    if isinstance(shape, Named) and not shape.args:
        return term_of(shape.value)
    if isinstance(shape, Scalar) and not shape.unit:
        return shape.term
    raise Unreadable("a number is expected next to an interval")


def is_region(shape: Shape) -> bool:
    return isinstance(shape, Region | Ordered)


def as_region(shape: Shape) -> Shape:
    """A pair in round brackets is an open interval if it is next to ∪ or ∖."""
    if isinstance(shape, Ordered) and len(shape.items) == 2:
        low, high = (term_of(one) for one in shape.items)
        return Region((Piece(low, high, False, False),))
    return shape
