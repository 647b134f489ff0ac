"""The claims of the sample library in geometry, checked on random figures: exactly where rational points suffice."""

from cmath import phase, rect
from fractions import Fraction
from itertools import combinations
from math import cos, isclose, pi, sin
from random import Random

import pytest

Point = tuple[Fraction, Fraction]
FIGURES = range(60)


def rational(rng: Random) -> Fraction:
    return Fraction(rng.randint(-60, 60), rng.randint(1, 30))


def on_unit_circle(t: Fraction) -> Point:
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def vector(p: Point, q: Point) -> Point:
    return q[0] - p[0], q[1] - p[1]


def cross(u: Point, v: Point) -> Fraction:
    return u[0] * v[1] - u[1] * v[0]


def dot(u: Point, v: Point) -> Fraction:
    return u[0] * v[0] + u[1] * v[1]


def square(p: Point, q: Point) -> Fraction:
    """Return the squared distance of two points."""
    return dot(vector(p, q), vector(p, q))


def middle(p: Point, q: Point) -> Point:
    return (p[0] + q[0]) / 2, (p[1] + q[1]) / 2


def along(p: Point, direction: Point, factor: Fraction) -> Point:
    return p[0] + factor * direction[0], p[1] + factor * direction[1]


def foot(p: Point, a: Point, b: Point) -> Point:
    """Return the foot of the perpendicular from p to the line ab."""
    line = vector(a, b)
    return along(a, line, dot(vector(a, p), line) / dot(line, line))


def meet(p: Point, u: Point, q: Point, v: Point) -> Point:
    """Return the common point of the lines through p and q with directions u and v."""
    return along(p, u, cross(vector(p, q), v) / cross(u, v))


def turned(u: Point) -> Point:
    return -u[1], u[0]


def different(rng: Random, count: int) -> list[Fraction]:
    found: set[Fraction] = set()
    while len(found) < count:
        found.add(rational(rng))
    return rng.sample(sorted(found), count)


@pytest.mark.parametrize("seed", FIGURES)
def test_the_three_feet_lie_on_one_line(seed: int) -> None:
    a, b, c, p = (on_unit_circle(t) for t in different(Random(seed), 4))
    d, e, f = foot(p, b, c), foot(p, c, a), foot(p, a, b)
    assert cross(vector(d, e), vector(d, f)) == 0
    assert d not in (e, f)


def test_the_three_feet_are_not_on_a_line_for_other_points() -> None:
    a, b, c = (on_unit_circle(Fraction(t)) for t in (0, 1, -3))
    p = (Fraction(2), Fraction(1))
    d, e, f = foot(p, b, c), foot(p, c, a), foot(p, a, b)
    assert cross(vector(d, e), vector(d, f)) != 0


@pytest.mark.parametrize("seed", FIGURES)
def test_the_complex_formula_for_the_foot_and_the_differences(seed: int) -> None:
    rng = Random(seed)
    a, b, c, p = (rect(1, rng.uniform(0, 2 * pi)) for _ in range(4))
    d, e, f = ((u + v + p - u * v / p) / 2 for u, v in ((b, c), (c, a), (a, b)))
    assert isclose(((d - b) / (c - b)).imag, 0, abs_tol=1e-6)
    assert isclose(((p - d) / (c - b)).real, 0, abs_tol=1e-6)
    assert abs((d - e) - (b - a) * (p - c) / (2 * p)) < 1e-12
    assert abs((d - f) - (c - a) * (p - b) / (2 * p)) < 1e-12


@pytest.mark.parametrize("seed", FIGURES)
def test_ptolemys_theorem_and_the_steps_of_its_proofs(seed: int) -> None:
    rng = Random(seed)
    a, b, c, d = (rect(1, angle) for angle in sorted(rng.uniform(0, 2 * pi) for _ in range(4)))
    assert isclose(abs(a - c) * abs(b - d), abs(a - b) * abs(c - d) + abs(b - c) * abs(d - a), abs_tol=1e-9)
    share = abs(a - b) * abs(c - d) / (abs(b - d) * abs(a - c))
    k = a + share * (c - a)
    assert 0 < share < 1
    assert isclose(abs(phase((k - b) / (a - b))), abs(phase((c - b) / (d - b))), abs_tol=1e-6)
    images = [a + 1 / (x - a).conjugate() for x in (b, c, d)]
    for (x, y), (u, v) in zip(combinations((b, c, d), 2), combinations(images, 2), strict=True):
        assert isclose(abs(u - v), abs(x - y) / (abs(x - a) * abs(y - a)), rel_tol=1e-6)
    assert isclose(abs(images[0] - images[2]), abs(images[0] - images[1]) + abs(images[1] - images[2]), rel_tol=1e-6)


@pytest.mark.parametrize("seed", FIGURES)
def test_ptolemys_theorem_with_sines(seed: int) -> None:
    rng = Random(seed)
    cuts = sorted(rng.uniform(0, pi) for _ in range(3))
    al, be, ga, de = (high - low for low, high in zip([0, *cuts], [*cuts, pi], strict=True))
    assert isclose(sin(al + be) * sin(be + ga), sin(al) * sin(ga) + sin(be) * sin(de), abs_tol=1e-12)


@pytest.mark.parametrize("seed", FIGURES)
def test_the_euler_line_and_the_nine_points(seed: int) -> None:
    rng = Random(seed)
    a, b, c = ((rational(rng), rational(rng)) for _ in range(3))
    while cross(vector(a, b), vector(a, c)) == 0:
        c = (rational(rng), rational(rng))
    check_nine_points(a, b, c)


def test_the_nine_points_of_a_right_triangle() -> None:
    check_nine_points((Fraction(0), Fraction(0)), (Fraction(3), Fraction(0)), (Fraction(0), Fraction(4)))


def check_nine_points(a: Point, b: Point, c: Point) -> None:
    o = meet(middle(a, b), turned(vector(a, b)), middle(b, c), turned(vector(b, c)))
    h = meet(a, turned(vector(b, c)), b, turned(vector(c, a)))
    g = ((a[0] + b[0] + c[0]) / 3, (a[1] + b[1] + c[1]) / 3)
    assert vector(o, h) == (3 * (g[0] - o[0]), 3 * (g[1] - o[1]))
    for corner, (p, q) in ((a, (b, c)), (b, (c, a)), (c, (a, b))):
        for point in (middle(p, q), foot(corner, p, q), middle(h, corner)):
            assert square(middle(o, h), point) == square(o, a) / 4


@pytest.mark.parametrize("seed", FIGURES)
def test_the_three_lines_of_1995_have_a_common_point(seed: int) -> None:
    rng = Random(seed)
    height = Fraction(rng.randint(1, 9), rng.randint(1, 9))
    near, far = sorted(Fraction(rng.randint(1, 40), rng.randint(1, 12)) for _ in range(2))
    if near == far:
        far += 1
    zero = Fraction(0)
    c, d = (near, zero), (far, zero)
    a, b = (-height * height / near, zero), (-height * height / far, zero)
    assert a < b < c < d
    x, p = (zero, height), (zero, rational(rng) or Fraction(1))
    assert dot(vector(x, a), vector(x, c)) == 0 == dot(vector(x, b), vector(x, d))
    m, n = foot(a, c, p), foot(d, b, p)
    q = (zero, height * height / p[1])
    assert cross(vector(a, m), vector(a, q)) == 0 == cross(vector(d, n), vector(d, q))
    assert dot(vector(p, c), vector(p, m)) == dot(vector(p, b), vector(p, n)) == p[1] ** 2 - height**2


@pytest.mark.parametrize("seed", FIGURES)
def test_the_interior_point_of_2006_is_no_closer_than_the_incentre(seed: int) -> None:
    rng = Random(seed)
    beta, gamma = rng.uniform(0.1, 1.5), rng.uniform(0.1, 1.5)
    b, c = 0j, 1 + 0j

    def seen(at_b: float, at_c: float) -> complex:
        """Return the point above BC that sees the other end under these angles from B and from C."""
        return rect(sin(at_c) / sin(at_b + at_c), at_b)

    a, incentre = seen(beta, gamma), seen(beta / 2, gamma / 2)
    total = (beta + gamma) / 2
    at_b = rng.uniform(max(0.0, total - gamma), min(beta, total))
    p = seen(at_b, total - at_b)
    assert isclose((beta - at_b) + (gamma - (total - at_b)), at_b + (total - at_b))
    centre = complex(0.5, -0.5 * sin((pi - beta - gamma) / 2) / cos((pi - beta - gamma) / 2))
    for point in (b, c, incentre, p):
        assert isclose(abs(point - centre), abs(b - centre), rel_tol=1e-6)
    assert isclose(abs(a - incentre) + abs(incentre - centre), abs(a - centre), rel_tol=1e-9)
    assert abs(a - p) >= abs(a - incentre) - 1e-12
