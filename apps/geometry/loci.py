"""Points, lines and circles as complex numbers, in floating point or with 50 digits.

All functions work in both arithmetics, because complex numbers of Python and of mpmath have the same operators.
"""

import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath

#: A complex number of Python or of mpmath.
Point = Any
#: A real number of Python or of mpmath.
Real = Any
#: Below this sine two lines count as parallel, and below this share of a radius a line as tangent.
LEAST = 1e-3


class Degenerate(Exception):
    """The random choices do not allow the construction; says why."""


@dataclass(frozen=True)
class Numbers:
    """An arithmetic: conversion of reals and the functions that differ."""

    real: Callable[[Any], Real]
    sqrt: Callable[[Real], Real]
    turn: Callable[[Real], Point]
    argument: Callable[[Point], Real]
    pi: Real

    def fraction(self, value: Fraction) -> Real:
        return self.real(value.numerator) / self.real(value.denominator)


FLOATS = Numbers(float, math.sqrt, lambda angle: cmath.exp(1j * angle), cmath.phase, math.pi)


def digits(count: int) -> Numbers:
    """mpmath with `count` digits, in a context of its own: the global one is not for threads."""
    context = mpmath.mp.clone()
    context.dps = count
    return Numbers(context.mpf, context.sqrt, context.expj, context.arg, context.pi + 0)


@dataclass(frozen=True)
class Line:
    """The line through `at` with the direction `along`."""

    at: Point
    along: Point


@dataclass(frozen=True)
class Circle:
    """A circle with its squared radius."""

    center: Point
    square: Real


#: What a construction says about its point: one of some points, or on a line, or on a circle.
Locus = list[Point] | Line | Circle


def cross(u: Point, v: Point) -> Real:
    return u.real * v.imag - u.imag * v.real


def dot(u: Point, v: Point) -> Real:
    return u.real * v.real + u.imag * v.imag


def square(u: Point) -> Real:
    """The squared length."""
    return u.real * u.real + u.imag * u.imag


def foot(x: Point, line: Line) -> Point:
    return line.at + line.along * (dot(x - line.at, line.along) / square(line.along))


def distance(x: Point, locus: Locus) -> Real:
    """How far a point is from a locus."""
    if isinstance(locus, Line):
        return abs(x - foot(x, locus))
    if isinstance(locus, Circle):
        return abs(abs(x - locus.center) - abs(locus.square) ** 0.5)
    return min(abs(x - y) for y in locus)


def common_points(one: Locus, other: Locus, numbers: Numbers) -> list[Point]:
    """The points on both loci. Raises `Degenerate` if there are none, or if they are badly determined."""
    if isinstance(one, list):
        if found := [x for x in one if distance(x, other) < 1e-9]:
            return found
        raise Degenerate("its conditions contradict each other")
    if isinstance(other, list):
        return common_points(other, one, numbers)
    if isinstance(one, Line) and isinstance(other, Line):
        sine = cross(one.along, other.along)
        if abs(sine) <= LEAST * abs(one.along) * abs(other.along):
            raise Degenerate("its two lines are parallel or the same")
        return [one.at + one.along * (cross(other.at - one.at, other.along) / sine)]
    if isinstance(one, Line):
        assert isinstance(other, Circle)
        return _line_and_circle(one, other, numbers)
    if isinstance(other, Line):
        return _line_and_circle(other, one, numbers)
    return _line_and_circle(_radical_line(one, other), one, numbers)


def _line_and_circle(line: Line, circle: Circle, numbers: Numbers) -> list[Point]:
    middle = foot(circle.center, line)
    rest = circle.square - square(middle - circle.center)
    if rest <= LEAST**2 * circle.square:
        raise Degenerate("a line or circle misses or only touches a circle")
    step = line.along * (numbers.sqrt(rest) / abs(line.along))
    return [middle + step, middle - step]


def _radical_line(one: Circle, other: Circle) -> Line:
    between = other.center - one.center
    if square(between) <= LEAST**2 * (one.square + other.square):
        raise Degenerate("its two circles have the same centre")
    along = (square(between) + one.square - other.square) / (2 * square(between))
    return Line(one.center + between * along, between * 1j)


def bisector(a: Point, b: Point, c: Point) -> Line:
    """The inner bisector of the angle at b."""
    return Line(b, (a - b) / abs(a - b) + (c - b) / abs(c - b))


def center(a: Point, b: Point, c: Point) -> Point:
    """The circumcentre."""
    u, v = b - a, c - a
    area = 2 * cross(u, v)
    if abs(area) <= LEAST * abs(u) * abs(v):
        raise Degenerate("three points are on one line")
    return a + (u * square(v) - v * square(u)) * 1j / area


def apollonius(a: Point, b: Point, ratio: Real) -> Locus:
    """All x with |xa| = ratio · |xb|."""
    q = ratio * ratio
    if abs(q - 1) < 1e-9:
        return Line((a + b) / 2, (b - a) * 1j)
    return Circle((a - b * q) / (1 - q), q * square(a - b) / (1 - q) ** 2)


def seen_under(a: Point, b: Point, e: Point, d: Point, f: Point) -> Locus:
    """All x for which the lines xa, xb make the same directed angle as de, df."""
    turn = (f - d) * (e - d).conjugate()
    turn = turn * turn / square(turn)
    if abs(turn - 1) < LEAST:
        raise Degenerate("an angle is 0")
    middle = (b - turn * a) / (1 - turn)
    return Circle(middle, square(a - middle))
