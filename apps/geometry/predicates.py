"""The predicates that a goal may assert, and how far a configuration is from them. Source: `newclid/predicates/*.py`.

A residual is 0 where the predicate holds. It has no unit: it is divided by the sizes that occur in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apps.geometry.loci import Numbers, Point, Real, cross, dot, square

#: Above this residual three points are not on a line; used where a degenerate case would make a claim true.
_FLAT = 1e-9


@dataclass(frozen=True)
class Predicate:
    """A predicate. `sizes` are the allowed numbers of points; `values` counts numbers after the points.

    A `negated` predicate holds where its residual is not 0.
    """

    name: str
    usage: str
    meaning: str
    sizes: Callable[[int], bool]
    residual: Callable[..., Real]
    values: int = 0
    negated: bool = False


def _relative(left: Real, right: Real) -> Real:
    return abs(left - right) / (abs(left) + abs(right))


def _collinear(_: Numbers, p: Sequence[Point]) -> Real:
    first = p[0]
    far = max(p[1:], key=lambda x: square(x - first))
    return max(abs(cross(far - first, x - first)) / square(far - first) for x in p[1:])


def _parallel(_: Numbers, p: Sequence[Point]) -> Real:
    return abs(cross(p[1] - p[0], p[3] - p[2])) / (abs(p[1] - p[0]) * abs(p[3] - p[2]))


def _perpendicular(_: Numbers, p: Sequence[Point]) -> Real:
    return abs(dot(p[1] - p[0], p[3] - p[2])) / (abs(p[1] - p[0]) * abs(p[3] - p[2]))


def _equal_lengths(_: Numbers, p: Sequence[Point]) -> Real:
    lengths = [square(p[i + 1] - p[i]) for i in range(0, len(p), 2)]
    return max(_relative(lengths[0], other) for other in lengths[1:])


def _equal_angles(_: Numbers, p: Sequence[Point]) -> Real:
    angles = [(p[i + 3] - p[i + 2]) * (p[i + 1] - p[i]).conjugate() for i in range(0, len(p), 4)]
    return max(abs(cross(angles[0], other)) / (abs(angles[0]) * abs(other)) for other in angles[1:])


def _equal_ratios(_: Numbers, p: Sequence[Point]) -> Real:
    a, b, c, d = (square(p[i + 1] - p[i]) for i in range(0, 8, 2))
    return _relative(a * d, b * c)


def _concyclic(numbers: Numbers, p: Sequence[Point]) -> Real:
    a, b, c, *others = p
    if _collinear(numbers, (a, b, c)) < _FLAT:
        return numbers.real(1)
    ratios = [(x - a) * (b - c) * ((x - c) * (b - a)).conjugate() for x in others]
    return max(abs(ratio.imag) / abs(ratio) for ratio in ratios)


def _midpoint(_: Numbers, p: Sequence[Point]) -> Real:
    return abs(2 * p[0] - p[1] - p[2]) / abs(p[1] - p[2])


def _same_distances(numbers: Numbers, p: Sequence[Point]) -> Real:
    return _equal_lengths(numbers, [x for other in p[1:] for x in (p[0], other)])


def _similar(_: Numbers, p: Sequence[Point]) -> Real:
    a, b, c, x, y, z = p
    left, right = (b - a) * (z - x), (c - a) * (y - x)
    return abs(left - right) / (abs(left) + abs(right))


def _similar_reversed(numbers: Numbers, p: Sequence[Point]) -> Real:
    return _similar(numbers, [*(x.conjugate() for x in p[:3]), *p[3:]])


def _congruent(numbers: Numbers, p: Sequence[Point]) -> Real:
    return _similar(numbers, p) + _relative(square(p[1] - p[0]), square(p[4] - p[3]))


def _congruent_reversed(numbers: Numbers, p: Sequence[Point]) -> Real:
    return _congruent(numbers, [*(x.conjugate() for x in p[:3]), *p[3:]])


def _angle(numbers: Numbers, p: Sequence[Point], y: Real) -> Real:
    turned = (p[3] - p[2]) * (p[1] - p[0]).conjugate() * numbers.turn(-y)
    return abs(turned.imag) / abs(turned)


def _ratio(_: Numbers, p: Sequence[Point], r: Real) -> Real:
    return _relative(square(p[1] - p[0]), r * r * square(p[3] - p[2]))


def _square_ratio(_: Numbers, p: Sequence[Point], r: Real) -> Real:
    return _relative(square(p[1] - p[0]), r * square(p[3] - p[2]))


def _length(_: Numbers, p: Sequence[Point], length: Real) -> Real:
    return _relative(square(p[1] - p[0]), length * length)


def _square_length(_: Numbers, p: Sequence[Point], length: Real) -> Real:
    return _relative(square(p[1] - p[0]), length)


def _apart(_: Numbers, p: Sequence[Point]) -> Real:
    return abs(p[0] - p[1])


def _exactly(count: int) -> Callable[[int], bool]:
    return lambda points: points == count


def _from(least: int) -> Callable[[int], bool]:
    return lambda points: points >= least


def _predicates() -> list[Predicate]:
    four, six, eight = _exactly(4), _exactly(6), _exactly(8)
    return [
        Predicate("coll", "coll a b c …", "the points are on one line", _from(3), _collinear),
        Predicate("para", "para a b c d", "ab ∥ cd", four, _parallel),
        Predicate("perp", "perp a b c d", "ab ⟂ cd", four, _perpendicular),
        Predicate("cong", "cong a b c d", "ab = cd", four, _equal_lengths),
        Predicate("eqangle", "eqangle a b c d e f g h", "∠(ab, cd) = ∠(ef, gh), as angles of lines", eight, _equal_angles),
        Predicate("eqratio", "eqratio a b c d e f g h", "ab : cd = ef : gh", eight, _equal_ratios),
        Predicate("cyclic", "cyclic a b c d …", "the points are on one circle", _from(4), _concyclic),
        Predicate("midp", "midp m a b", "m is the midpoint of ab", _exactly(3), _midpoint),
        Predicate("circle", "circle o a b c …", "o is equally far from a, b, c", _from(4), _same_distances),
        Predicate("simtri", "simtri a b c p q r", "the triangles are similar", six, _similar),
        Predicate("simtrir", "simtrir a b c p q r", "the triangles are similar, reversed", six, _similar_reversed),
        Predicate("contri", "contri a b c p q r", "the triangles are congruent", six, _congruent),
        Predicate("contrir", "contrir a b c p q r", "the triangles are congruent, reversed", six, _congruent_reversed),
        Predicate("aconst", "aconst a b c d 60o", "∠(ab, cd) = 60°", four, _angle, 1),
        Predicate("rconst", "rconst a b c d 1/2", "ab : cd = 1 : 2", four, _ratio, 1),
        Predicate("r2const", "r2const a b c d 1/2", "ab² : cd² = 1 : 2", four, _square_ratio, 1),
        Predicate("lconst", "lconst a b 3", "ab = 3", _exactly(2), _length, 1),
        Predicate("l2const", "l2const a b 3", "ab² = 3", _exactly(2), _square_length, 1),
        Predicate("diff", "diff a b", "a and b differ", _exactly(2), _apart, negated=True),
        Predicate("ncoll", "ncoll a b c", "the points are not on one line", _from(3), _collinear, negated=True),
        Predicate("npara", "npara a b c d", "ab is not parallel to cd", four, _parallel, negated=True),
        Predicate("nperp", "nperp a b c d", "ab is not perpendicular to cd", four, _perpendicular, negated=True),
    ]


PREDICATES: dict[str, Predicate] = {predicate.name: predicate for predicate in _predicates()}
#: Names of older versions of newclid and of AlphaGeometry.
OLDER = {
    "eqangle6": "eqangle",
    "eqratio6": "eqratio",
    "simtri2": "simtrir",
    "contri2": "contrir",
    "circum": "circle",
}
#: Predicates of pairs of points, where the two must differ.
OF_PAIRS = {"para", "perp", "cong", "eqangle", "eqratio", "aconst", "rconst", "r2const", "npara", "nperp", "lconst", "l2const"}
