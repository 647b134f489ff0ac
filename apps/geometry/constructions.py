"""The constructions of JGEX. Source: `newclid/jgex/constructions/*.py`, which also has the assumptions they stand for.

A construction gives its new point a locus (`LOCI`: on a line, on a circle, or one of some points), finds several points at once
(`GROUPS`), or starts a figure (`shapes.SHAPES`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from apps.geometry.loci import (
    LEAST,
    Circle,
    Degenerate,
    Line,
    Locus,
    Point,
    apollonius,
    bisector,
    center,
    common_points,
    foot,
    seen_under,
    square,
)
from apps.geometry.shapes import SHAPES, Draw


@dataclass(frozen=True)
class Construction:
    """A construction: names of its arguments, those that are new points, those that are numbers, and its meaning."""

    name: str
    arguments: tuple[str, ...]
    new: tuple[str, ...]
    values: tuple[str, ...]
    meaning: str

    @property
    def usage(self) -> str:
        return " ".join([self.name, *self.arguments])


def _line(a: Point, b: Point) -> Line:
    return Line(a, b - a)


def _parallel(a: Point, b: Point, c: Point) -> Line:
    return Line(a, c - b)


def _perpendicular(a: Point, b: Point, c: Point) -> Line:
    return Line(a, (c - b) * 1j)


def _middle_line(a: Point, b: Point) -> Line:
    return Line((a + b) / 2, (b - a) * 1j)


def _circle(o: Point, a: Point, b: Point) -> Circle:
    return Circle(o, square(a - b))


def _circumcircle(a: Point, b: Point, c: Point) -> Circle:
    middle = center(a, b, c)
    return Circle(middle, square(a - middle))


def _diameter(a: Point, b: Point) -> Circle:
    return Circle((a + b) / 2, square(a - b) / 4)


def _unit(u: Point) -> Point:
    return u / abs(u)


def _weighted(a: Point, b: Point, c: Point, sign: int) -> Point:
    u, v, w = sign * abs(b - c), abs(c - a), abs(a - b)
    return (a * u + b * v + c * w) / (u + v + w)


def _mirrored(a: Point, line: Line) -> Point:
    return 2 * foot(a, line) - a


def _isogonal(draw: Draw, a: Point, b: Point, c: Point) -> list[Point]:
    turn = draw.turn(draw.random.uniform(10, 170))
    return common_points(Line(a, (b - a) * turn), Line(c, (b - c) * turn.conjugate()), draw.numbers)


#: Usage → locus of the first new point, and meaning. Functions get a `Draw` and the arguments after the new point, in order.
_LOCI: dict[str, tuple[Callable[..., Locus], str]] = {
    "on_line x a b": (lambda _, a, b: _line(a, b), "x on the line ab"),
    "on_pline x a b c": (lambda _, a, b, c: _parallel(a, b, c), "xa ∥ bc"),
    "on_pline0 x a b c": (lambda _, a, b, c: _parallel(a, b, c), "xa ∥ bc"),
    "on_tline x a b c": (lambda _, a, b, c: _perpendicular(a, b, c), "xa ⟂ bc"),
    "on_bline x a b": (lambda _, a, b: _middle_line(a, b), "xa = xb"),
    "iso_triangle_vertex x a b": (lambda _, a, b: _middle_line(a, b), "xa = xb"),
    "iso_triangle_vertex_angle x a b": (lambda _, a, b: _middle_line(a, b), "xa = xb"),
    "on_aline x a b c d e": (
        lambda _, a, b, c, d, e: Line(a, _unit(b - a) * _unit(c - d) * _unit(e - d).conjugate()),
        "∠(ax, ab) = ∠(dc, de)",
    ),
    "on_aline0 x a b c d e f g": (
        lambda _, a, b, c, d, e, f, g: Line(g, _unit(f - e) * _unit(d - c) * _unit(b - a).conjugate()),
        "∠(ab, cd) = ∠(ef, gx)",
    ),
    "on_circle x o a": (lambda _, o, a: _circle(o, o, a), "x on the circle with centre o through a"),
    "on_circum x a b c": (lambda _, a, b, c: _circumcircle(a, b, c), "x on the circle abc"),
    "on_dia x a b": (lambda _, a, b: _diameter(a, b), "xa ⟂ xb"),
    "eqdistance x a b c": (lambda _, a, b, c: _circle(a, b, c), "xa = bc"),
    "angle_bisector x a b c": (lambda _, a, b, c: bisector(a, b, c), "bx bisects the angle abc"),
    "angle_mirror x a b c": (lambda _, a, b, c: Line(b, (c - b) ** 2 / (a - b)), "bc bisects the angle abx"),
    "lc_tangent x a o": (lambda _, a, o: _perpendicular(a, a, o), "xa touches the circle with centre o at a"),
    "eqangle2 x a b c": (_isogonal, "∠(ab, ax) = ∠(cx, cb)"),
    "eqangle3 x a b d e f": (lambda _, a, b, d, e, f: seen_under(a, b, e, d, f), "∠(xa, xb) = ∠(de, df)"),
    "s_angle a b x !y": (lambda draw, a, b, y: Line(b, (a - b) * draw.numbers.turn(y)), "∠(ab, bx) = y"),
    "aconst a b c x !y": (lambda draw, a, b, c, y: Line(c, (b - a) * draw.numbers.turn(y)), "∠(ab, cx) = y"),
    "rconst a b c x !r": (lambda _, a, b, c, r: Circle(c, square(a - b) / r**2), "ab : cx = r"),
    "r2const a b c x !r": (lambda _, a, b, c, r: Circle(c, square(a - b) / r), "ab² : cx² = r"),
    "rconst2 x a b !r": (lambda _, a, b, r: apollonius(a, b, r), "xa : xb = r"),
    "lconst x a !l": (lambda _, a, length: Circle(a, length**2), "xa = l"),
    "l2const x a !l": (lambda _, a, length: Circle(a, length), "xa² = l"),
    "eqratio x a b c d e f g": (
        lambda _, a, b, c, d, e, f, g: Circle(g, square(e - f) * square(c - d) / square(a - b)),
        "ab : cd = ef : gx",
    ),
    "eqratio6 x a c e f g h": (lambda _, a, c, e, f, g, h: apollonius(a, c, abs(e - f) / abs(g - h)), "ax : cx = ef : gh"),
    "intersection_ll x a b c d": (
        lambda draw, a, b, c, d: common_points(_line(a, b), _line(c, d), draw.numbers),
        "x on ab and cd",
    ),
    "intersection_lp x a b c m n": (
        lambda draw, a, b, c, m, n: common_points(_line(a, b), _parallel(c, m, n), draw.numbers),
        "x on ab, xc ∥ mn",
    ),
    "intersection_pp x a b c d e f": (
        lambda draw, a, b, c, d, e, f: common_points(_parallel(a, b, c), _parallel(d, e, f), draw.numbers),
        "xa ∥ bc, xd ∥ ef",
    ),
    "intersection_lt x a b c d e": (
        lambda draw, a, b, c, d, e: common_points(_line(a, b), _perpendicular(c, d, e), draw.numbers),
        "x on ab, xc ⟂ de",
    ),
    "intersection_tt x a b c d e f": (
        lambda draw, a, b, c, d, e, f: common_points(_perpendicular(a, b, c), _perpendicular(d, e, f), draw.numbers),
        "xa ⟂ bc, xd ⟂ ef",
    ),
    "intersection_lc x a o b": (
        lambda draw, a, o, b: common_points(_line(b, a), _circle(o, o, b), draw.numbers),
        "the second point of ab on the circle with centre o through b",
    ),
    "intersection_cc x o w a": (
        lambda draw, o, w, a: common_points(_circle(o, o, a), _circle(w, w, a), draw.numbers),
        "the second common point of the circles with centres o and w through a",
    ),
    "foot x a b c": (lambda _, a, b, c: [foot(a, _line(b, c))], "x on bc, xa ⟂ bc"),
    "midpoint x a b": (lambda _, a, b: [(a + b) / 2], "midpoint of ab"),
    "mirror x a b": (lambda _, a, b: [2 * b - a], "b is the midpoint of ax"),
    "reflect x a b c": (lambda _, a, b, c: [_mirrored(a, _line(b, c))], "a reflected in bc"),
    "shift x b c d": (lambda _, b, c, d: [b + c - d], "x = b + c − d as vectors"),
    "parallelogram x a b c": (lambda _, a, b, c: [a + c - b], "parallelogram abcx"),
    "iso_trapezoid2 x a b c": (lambda _, a, b, c: [_mirrored(c, _middle_line(a, b))], "xb = ac, xa = bc, xc ∥ ab"),
    "circumcenter x a b c": (lambda _, a, b, c: [center(a, b, c)], "circumcentre of abc"),
    "circle x a b c": (lambda _, a, b, c: [center(a, b, c)], "circumcentre of abc"),
    "orthocenter x a b c": (lambda _, a, b, c: [a + b + c - 2 * center(a, b, c)], "orthocentre of abc"),
    "incenter x a b c": (lambda _, a, b, c: [_weighted(a, b, c, 1)], "incentre of abc"),
    "excenter x a b c": (lambda _, a, b, c: [_weighted(a, b, c, -1)], "excentre of abc opposite a"),
    "psquare x a b": (lambda _, a, b: [a + (b - a) * 1j], "xa = ab, xa ⟂ ab, to the left"),
    "nsquare x a b": (lambda _, a, b: [a - (b - a) * 1j], "xa = ab, xa ⟂ ab, to the right"),
    "eq_triangle x b c": (
        lambda draw, b, c: [b + (c - b) * draw.turn(60), b + (c - b) * draw.turn(-60)],
        "equilateral triangle xbc",
    ),
    "between_bound x a b": (lambda draw, a, b: [a + (b - a) * draw.between(0.2, 0.8)], "x between a and b"),
    "simtri r a b c p q": (lambda _, a, b, c, p, q: [p + (c - a) * (q - p) / (b - a)], "pqr similar to abc"),
    "simtrir r a b c p q": (
        lambda _, a, b, c, p, q: [p + (c - a).conjugate() * (q - p) / (b - a).conjugate()],
        "pqr similar to abc, reversed",
    ),
}


def _incenter2(_: Draw, a: Point, b: Point, c: Point, sign: int = 1) -> list[Point]:
    i = _weighted(a, b, c, sign)
    return [foot(i, _line(b, c)), foot(i, _line(c, a)), foot(i, _line(a, b)), i]


def _tangents(draw: Draw, o: Point, a: Point, w: Point, b: Point, sign: int) -> list[Point]:
    first, second, between = abs(a - o), abs(b - w), w - o
    cosine = (first - sign * second) / abs(between)
    if abs(cosine) >= 1 - LEAST:
        raise Degenerate("the circles have no such common tangent")
    unit, sine = _unit(between), draw.numbers.sqrt(1 - cosine * cosine)
    normals = [unit * (cosine + sine * 1j), unit * (cosine - sine * 1j)]
    return [x for normal in normals for x in (o + first * normal, w + sign * second * normal)]


def _trisected(draw: Draw, a: Point, b: Point, c: Point) -> list[Point]:
    third = draw.numbers.turn(draw.numbers.argument((c - b) / (a - b)) / 3)
    ends = ((a - b) * third, (a - b) * third * third)
    return [common_points(_line(a, c), Line(b, end), draw.numbers)[0] for end in ends]


def _congruent(draw: Draw, a: Point, b: Point, c: Point, p: Point) -> list[Point]:
    turn = draw.turn(draw.random.uniform(0, 360))
    return [p + (b - a) * turn, p + (c - a) * turn]


def _mirror_congruent(draw: Draw, a: Point, b: Point, c: Point, p: Point) -> list[Point]:
    return _congruent(draw, a.conjugate(), b.conjugate(), c.conjugate(), p)


_GROUPS: dict[str, tuple[str, Callable[..., list[Point]], str]] = {
    "square x y a b": ("x y", lambda _, a, b: [b - (a - b) * 1j, a + (b - a) * 1j], "square abxy"),
    "centroid x y z i a b c": (
        "x y z i",
        lambda _, a, b, c: [(b + c) / 2, (c + a) / 2, (a + b) / 2, (a + b + c) / 3],
        "i is the centroid of abc; x, y, z are the midpoints",
    ),
    "incenter2 x y z i a b c": ("x y z i", _incenter2, "i is the incentre of abc; x, y, z are the points of contact"),
    "excenter2 x y z i a b c": (
        "x y z i",
        lambda draw, a, b, c: _incenter2(draw, a, b, c, -1),
        "i is the excentre opposite a; x, y, z are the points of contact",
    ),
    "tangent x y a o b": (
        "x y",
        lambda draw, a, o, b: common_points(_circle(o, o, b), _diameter(a, o), draw.numbers),
        "ax, ay touch the circle with centre o through b",
    ),
    "cc_tangent x y z i o a w b": (
        "x y z i",
        lambda draw, o, a, w, b: _tangents(draw, o, a, w, b, 1),
        "xy, zi are the outer common tangents of the circles with centre o through a, and w through b",
    ),
    "cc_itangent x y z i o a w b": (
        "x y z i",
        lambda draw, o, a, w, b: _tangents(draw, o, a, w, b, -1),
        "the same, inner tangents",
    ),
    "trisect x y a b c": ("x y", _trisected, "x, y on ac; bx, by trisect the angle abc"),
    "trisegment x y a b": ("x y", lambda _, a, b: [a + (b - a) / 3, b + (a - b) / 3], "x, y trisect ab"),
    "contri q r a b c p": ("q r", _congruent, "pqr congruent to abc"),
    "contrir q r a b c p": ("q r", _mirror_congruent, "pqr congruent to abc, reversed"),
}


def _described(usage: str, new: str, meaning: str) -> Construction:
    name, *arguments = usage.replace("!", "").split()
    values = tuple(word[1:] for word in usage.split() if word.startswith("!"))
    return Construction(name, tuple(arguments), tuple(new.split()), values, meaning)


def _new_point(usage: str) -> str:
    words = usage.split()
    return "x" if "x" in words else words[1]


CONSTRUCTIONS: dict[str, Construction] = {
    found.name: found
    for found in (
        *(_described(f"{name} {points}", points, meaning) for name, (points, _, meaning) in SHAPES.items()),
        *(_described(usage, _new_point(usage), meaning) for usage, (_, meaning) in _LOCI.items()),
        *(_described(usage, new, meaning) for usage, (new, _, meaning) in _GROUPS.items()),
    )
}
LOCI = {usage.split()[0]: find for usage, (find, _) in _LOCI.items()}
GROUPS = {usage.split()[0]: find for usage, (_, find, _) in _GROUPS.items()}
