"""Equality of regions of the line, and of a region with a pair, a set or a class of numbers."""

from fractions import Fraction

from apps.reasoning.answers.outcomes import Comparison, all_of, different, equal, undecided
from apps.reasoning.answers.values.equality import terms_equal
from apps.reasoning.answers.values.regions import has_letters, joined
from apps.reasoning.answers.values.shapes import Class, Many, Ordered, Piece, Region, Scalar, Shape
from apps.reasoning.answers.values.terms import Term, number
from apps.reasoning.answers.values.values import Evaluator
from apps.reasoning.answers.work import NoValue, Unreadable, Work

MOST_NUMBERS = 400
_ALL = Piece(None, None, False, False)


def region_against(one: Region, two: Shape, work: Work) -> Comparison | None:
    """Compare a region with a value of another kind; None if that kind has its own rule."""
    match two:
        case Ordered(items=(Scalar(term=low), Scalar(term=high))):
            return regions_equal(one, Region((Piece(low, high, False, False),)), work)
        case Ordered():
            return different("a tuple against an interval")
        case Scalar(term=term, unit=""):
            return regions_equal(one, Region((Piece(term, term, True, True),)), work)
        case Many(items=items):
            return _against_set(one, items, work)
        case Class(base="reals", sign=""):
            return regions_equal(one, Region((_ALL,)), work)
        case Class(base="reals", sign=("positive" | "nonnegative") as sign):
            return regions_equal(one, Region((Piece(number(0), None, sign == "nonnegative", False),)), work)
        case Class():
            return undecided("a class of numbers is compared with an interval")
    return None


def _against_set(one: Region, items: tuple[Shape, ...], work: Work) -> Comparison:
    terms = [each.term for each in items if isinstance(each, Scalar)]
    if len(terms) < len(items) or has_letters(one):
        return undecided("an interval is compared with something else")
    if not items:
        return different("only one of them is empty") if joined(one, work).pieces else equal("both are empty")
    return regions_equal(one, Region(tuple(Piece(term, term, True, True) for term in terms)), work)


def regions_equal(one: Region, two: Region, work: Work) -> Comparison:
    """Piece by piece in normal form; with letters in the ends, in the order written."""
    if has_letters(one) or has_letters(two):
        if len(one.pieces) != len(two.pieces):
            return undecided("intervals whose ends have letters")
        return _pieces(one, two, work)
    try:
        return _pieces(joined(one, work), joined(two, work), work)
    except Unreadable as problem:
        return undecided(str(problem))


def _pieces(one: Region, two: Region, work: Work) -> Comparison:
    found = all_of(_piece(first, second, work) for first, second in zip(one.pieces, two.pieces, strict=False))
    if len(one.pieces) != len(two.pieces):
        found = different("different intervals")
    if found.outcome == "different" and (one.by_relation or two.by_relation) and _whole_alike(one, two, work):
        return undecided("they hold the same whole numbers, but not the same real ones")
    return equal("the same intervals") if found.outcome == "equal" else found


def _piece(one: Piece, two: Piece, work: Work) -> Comparison:
    if (one.has_low, one.has_high) != (two.has_low, two.has_high):
        return different("an end belongs to one of the intervals only")
    return all_of((_end(one.low, two.low, work), _end(one.high, two.high, work)))


def _end(one: Term | None, two: Term | None, work: Work) -> Comparison:
    if one is None or two is None:
        return equal("infinite") if one is two else different("an end of one interval is infinite")
    return terms_equal(one, two, work)


def _whole_alike(one: Region, two: Region, work: Work) -> bool:
    """Whether both hold the same whole numbers, as far as the ends of either go and one beyond."""
    ends = [
        exact(end, work) for region in (one, two) for each in region.pieces for end in (each.low, each.high) if end is not None
    ]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends) or not known or max(known) - min(known) > MOST_NUMBERS:
        return False
    return all(_holds(one, each, work) == _holds(two, each, work) for each in range(int(min(known)) - 2, int(max(known)) + 3))


def _holds(region: Region, value: int, work: Work) -> bool:
    def above(end: Term | None, belongs: bool, sign: int) -> bool:
        bound = None if end is None else exact(end, work)
        return bound is None or sign * (value - bound) > 0 or (value == bound and belongs)

    return any(above(one.low, one.has_low, 1) and above(one.high, one.has_high, -1) for one in region.pieces)


def exact(term: Term, work: Work) -> Fraction | None:
    """The value of a term where it is an exact number."""
    try:
        found = Evaluator({}, 64, work).value(term)
    except NoValue:
        return None
    return found if isinstance(found, Fraction) else None
