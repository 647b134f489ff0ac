"""Random figures without given points: triangles, quadrangles, a pentagon. Source: `newclid/jgex/sketch.py`.

A figure is built in a standard place; `placed` turns, mirrors, scales and moves it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from apps.geometry.loci import Numbers, Point, Real


@dataclass(frozen=True)
class Draw:
    """Random numbers in an arithmetic. Equal seeds give equal numbers in both."""

    random: Random
    numbers: Numbers

    def between(self, low: float, high: float) -> Real:
        return self.numbers.real(self.random.uniform(low, high))

    def at(self, x: Real, y: Real) -> Point:
        return x + y * 1j

    def point(self) -> Point:
        return self.at(self.between(-1, 1), self.between(-1, 1))

    def turn(self, degrees: Real) -> Point:
        return self.numbers.turn(self.numbers.real(degrees) * self.numbers.pi / 180)


def placed(draw: Draw, points: list[Point]) -> list[Point]:
    """The figure at a random place, with a random size and orientation."""
    middle = sum(points[1:], points[0]) / len(points)
    turn = draw.turn(draw.random.uniform(0, 360)) * draw.between(0.6, 1.4)
    shift, is_mirrored = draw.point() / 4, draw.random.random() < 0.5
    moved = [x - middle for x in points]
    return [(x.conjugate() if is_mirrored else x) * turn + shift for x in moved]


def acute_triangle(draw: Draw) -> list[Point]:
    first = draw.random.uniform(42, 80)
    second = draw.random.uniform(max(42, 98 - first), min(80, 138 - first))
    return [draw.turn(0), draw.turn(2 * first), draw.turn(2 * first + 2 * second)]


def isosceles(draw: Draw) -> list[Point]:
    half = draw.between(0.3, 0.8)
    return [draw.at(0, draw.between(0.5, 1.5)), draw.at(-half, 0), draw.at(half, 0)]


def right_triangle(draw: Draw) -> list[Point]:
    return [draw.at(0, 0), draw.at(draw.between(0.5, 2), 0), draw.at(0, draw.between(0.5, 2))]


def equilateral(draw: Draw) -> list[Point]:
    return [draw.turn(90), draw.turn(210), draw.turn(330)]


def one_to_two(draw: Draw) -> list[Point]:
    return [draw.at(0, 0), draw.at(1, 0), 2 * draw.turn(draw.random.uniform(25, 155))]


def quadrangle(draw: Draw) -> list[Point]:
    left = draw.between(0.3, 0.7)
    turn = draw.turn(draw.random.uniform(-45, 45)) * 1j
    return [draw.at(-left, 0), -draw.between(0.25, 0.75) * turn, draw.at(1 - left, 0), draw.between(0.25, 0.75) * turn]


def equal_diagonals(draw: Draw) -> list[Point]:
    left, low = draw.between(0.3, 0.7), draw.between(0.3, 0.7)
    turn = draw.turn(draw.random.uniform(-45, 45)) * 1j
    return [draw.at(-left, 0), -low * turn, draw.at(1 - left, 0), (1 - low) * turn]


def equal_sides(draw: Draw) -> list[Point]:
    length = draw.between(0.5, 1.5)
    d = length * draw.turn(draw.random.uniform(60, 120))
    return [draw.at(0, 0), draw.at(1, 0), 1 + length * draw.turn(draw.random.uniform(40, 100)), d]


def rectangle(draw: Draw) -> list[Point]:
    width = draw.between(0.5, 2)
    return [draw.at(0, 0), draw.at(0, 1), draw.at(width, 1), draw.at(width, 0)]


def square(draw: Draw) -> list[Point]:
    return [draw.at(0, 0), draw.at(1, 0), draw.at(1, 1), draw.at(0, 1)]


def trapezoid(draw: Draw) -> list[Point]:
    start, height = draw.between(-0.5, 1), draw.between(0.5, 1.5)
    return [draw.at(start, height), draw.at(start + draw.between(0.4, 1.6), height), draw.at(1, 0), draw.at(0, 0)]


def right_trapezoid(draw: Draw) -> list[Point]:
    return [draw.at(0, 1), draw.at(draw.between(0.5, 1.5), 1), draw.at(draw.between(0.5, 1.5), 0), draw.at(0, 0)]


def isosceles_trapezoid(draw: Draw) -> list[Point]:
    half, height = draw.between(0.25, 1), draw.between(0.5, 1.5)
    return [draw.at(-0.5, 0), draw.at(0.5, 0), draw.at(half, height), draw.at(-half, height)]


def pentagon(draw: Draw) -> list[Point]:
    return [draw.turn(72 * i + draw.random.uniform(-22, 22)) * draw.between(0.8, 1.2) for i in range(5)]


def between(draw: Draw) -> list[Point]:
    return [draw.at(draw.between(0.2, 0.8), 0), draw.at(0, 0), draw.at(1, 0)]


#: By construction: the figure and what it is. The points are in the order of the arguments.
SHAPES: dict[str, tuple[str, Callable[[Draw], list[Point]], str]] = {
    "free": ("a", lambda draw: [draw.point()], "any point"),
    "segment": ("a b", lambda draw: [draw.point(), draw.point()], "any two points"),
    "between": ("c a b", between, "c between a and b"),
    "triangle": ("a b c", lambda draw: [draw.point(), draw.point(), draw.point()], "any triangle"),
    "acute_triangle": ("a b c", acute_triangle, "acute triangle"),
    "r_triangle": ("a b c", right_triangle, "right angle at a"),
    "iso_triangle": ("a b c", isosceles, "ab = ac"),
    "iso_triangle0": ("a b c", isosceles, "ab = ac"),
    "ieq_triangle": ("a b c", equilateral, "equilateral triangle"),
    "risos": ("a b c", lambda draw: [draw.at(0, 0), draw.at(1, 0), draw.at(0, 1)], "right angle at a, ab = ac"),
    "triangle12": ("a b c", one_to_two, "ab : ac = 1 : 2"),
    "quadrangle": ("a b c d", quadrangle, "any convex quadrangle"),
    "rectangle": ("a b c d", rectangle, "rectangle"),
    "isquare": ("a b c d", square, "square"),
    "trapezoid": ("a b c d", trapezoid, "ab ∥ cd"),
    "r_trapezoid": ("a b c d", right_trapezoid, "ab ∥ cd, right angles at a and d"),
    "iso_trapezoid": ("a b c d", isosceles_trapezoid, "ab ∥ cd, da = bc"),
    "eq_quadrangle": ("a b c d", equal_sides, "da = bc"),
    "eqdia_quadrangle": ("a b c d", equal_diagonals, "ac = bd"),
    "pentagon": ("a b c d e", pentagon, "any convex pentagon"),
}
