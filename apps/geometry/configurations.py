"""Random configurations of a statement: coordinates of its points that satisfy its constructions and are not degenerate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

from apps.geometry.constructions import GROUPS, LOCI
from apps.geometry.loci import (
    FLOATS,
    Circle,
    Degenerate,
    Line,
    Locus,
    Numbers,
    Point,
    Real,
    common_points,
    cross,
    distance,
    dot,
)
from apps.geometry.shapes import SHAPES, Draw, placed
from apps.geometry.statement import Clause, Statement, Step, Value

WANTED = 200
#: Tries for the first configuration, and for all of them.
MOST_TRIES_FIRST, MOST_TRIES = 300, 4_000
#: Least distance of two points, and greatest of a point from the origin. Free points are in a square of side 2.
LEAST_APART, FARTHEST = 0.02, 30


@dataclass(frozen=True, eq=False)
class Configuration:
    """Coordinates of the points, by name. `seed` repeats the configuration in any arithmetic."""

    seed: int
    points: Mapping[str, Point]


class NoConfiguration(Exception):
    """No configuration was found; says why."""


def configurations(statement: Statement, wanted: int = WANTED) -> Iterator[Configuration]:
    """At most `wanted` configurations, always the same ones. Raises `NoConfiguration` if there are none."""
    found, reasons = 0, dict[str, int]()
    for seed in range(MOST_TRIES):
        try:
            configuration = build(statement, seed, FLOATS)
        except Degenerate as reason:
            reasons[str(reason)] = reasons.get(str(reason), 0) + 1
            if not found and seed >= MOST_TRIES_FIRST:
                break
            continue
        yield configuration
        found += 1
        if found == wanted:
            return
    if not found:
        raise NoConfiguration(max(reasons, key=lambda reason: reasons[reason]))


def build(statement: Statement, seed: int, numbers: Numbers) -> Configuration:
    """The configuration of a seed. Raises `Degenerate`."""
    draw = Draw(Random(seed), numbers)  # noqa: S311  Not for secrets.
    points: dict[str, Point] = {}
    for clause in statement.clauses:
        try:
            found = _placed(draw, clause, points)
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            raise Degenerate(f"{_names(clause)}: the construction uses coinciding points") from error
        except Degenerate as reason:
            raise Degenerate(f"{_names(clause)}: {reason}") from reason
        for name, point in zip(clause.points, found, strict=True):
            _check(name, point, points)
            points[name] = point
    return Configuration(seed, points)


def _names(clause: Clause) -> str:
    return f"{'points' if len(clause.points) > 1 else 'point'} {', '.join(clause.points)}"


def _check(name: str, point: Point, points: Mapping[str, Point]) -> None:
    if not abs(point) < FARTHEST:
        raise Degenerate(f"point {name}: it is too far away")
    for other, place in points.items():
        if abs(place - point) < LEAST_APART:
            raise Degenerate(f"point {name}: it coincides with {other}")


def _placed(draw: Draw, clause: Clause, points: Mapping[str, Point]) -> list[Point]:
    step = clause.steps[0]
    if step.construction.name in SHAPES:
        found = SHAPES[step.construction.name][1](draw)
        return found if len(found) < 3 else placed(draw, found)
    if step.construction.name in GROUPS:
        return GROUPS[step.construction.name](draw, *_arguments(step, points, draw.numbers))
    return [_one_point(draw, clause, points)]


def _arguments(step: Step, points: Mapping[str, Point], numbers: Numbers) -> list[Point | Real]:
    return [real(one, numbers) if isinstance(one, Value) else points[one] for one in step.given]


def real(value: Value, numbers: Numbers) -> Real:
    """A number of a statement; an angle in radians."""
    amount = numbers.fraction(value.amount)
    return amount * numbers.pi if value.is_angle else amount


def _one_point(draw: Draw, clause: Clause, points: Mapping[str, Point]) -> Point:
    loci: list[Locus] = [LOCI[step.construction.name](draw, *_arguments(step, points, draw.numbers)) for step in clause.steps]
    if len(loci) == 1 and not isinstance(loci[0], list):
        return _somewhere(draw, loci[0])
    found = common_points(loci[0], loci[1], draw.numbers) if len(loci) > 1 else loci[0]
    assert isinstance(found, list)
    for locus in loci[2:]:
        found = [x for x in found if distance(x, locus) < 1e-9]
    if not found:
        raise Degenerate("its conditions contradict each other")
    apart = [x for x in found if all(abs(x - y) >= LEAST_APART for y in points.values())]
    return draw.random.choice(apart or found)


def _somewhere(draw: Draw, locus: Line | Circle) -> Point:
    if isinstance(locus, Line):
        return locus.at + locus.along * (draw.between(-2, 2) / abs(locus.along))
    return locus.center + draw.turn(draw.random.uniform(0, 360)) * draw.numbers.sqrt(locus.square)


def clearness(configuration: Configuration) -> float:
    """How readable a figure is: points far apart, an acute first triangle that is not flat, and nothing far outside it."""
    points = list(configuration.points.values())
    if len(points) < 3:
        return 0.0
    x, y, z = first = points[:3]
    width = _width(points)
    near = min(abs(x - y) for x, y in combinations(points, 2)) / width
    acute = min(dot(y - x, z - x), dot(x - y, z - y), dot(x - z, y - z)) > 0
    return float(min(near, 0.15) + 0.3 * min(_flatness(x, y, z), 0.7) + 0.1 * acute + 0.3 * min(_width(first) / width, 0.8))


def _width(points: Sequence[Point]) -> Real:
    return max(abs(x - y) for x, y in combinations(points, 2))


def _flatness(x: Point, y: Point, z: Point) -> float:
    """The sine of the least angle of a triangle; 1 for points on a line, which belong there."""
    area = abs(cross(y - x, z - x))
    lengths = sorted((abs(y - x), abs(z - y), abs(x - z)))
    return 1.0 if area < 1e-9 * lengths[2] ** 2 else float(area / (lengths[1] * lengths[2]))
