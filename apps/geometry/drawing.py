"""A configuration as SVG. Classes of static/css/geometry.css set all colours, so it fits both themes."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from xml.sax.saxutils import escape

from apps.geometry.configurations import Configuration
from apps.geometry.loci import Circle, Degenerate, center, square
from apps.geometry.shapes import SHAPES
from apps.geometry.statement import Goal, Statement, Step

#: Size of the drawing in its own units, its margin, and the distance of labels from their points.
SIZE, MARGIN, LABEL = 400.0, 36.0, 15.0
#: Lines by construction, as letters of its arguments: a segment through these points. `o:a` is a circle by centre and point,
#: `abc@` the circle through three points, `xyz*` a closed polygon.
_DRAWN = {
    "on_line": "xab", "on_pline": "xa bc", "on_pline0": "xa bc", "on_tline": "xa bc", "on_bline": "xa xb ab",
    "iso_triangle_vertex": "xa xb ab", "on_circle": "o:a", "on_circum": "abc@", "on_dia": "xa xb", "on_aline": "xa ab dc de",
    "angle_bisector": "bx ba bc", "angle_mirror": "bx ba bc", "lc_tangent": "xa ao", "s_angle": "ab bx", "aconst": "ab cx",
    "intersection_ll": "xab xcd", "intersection_lp": "xab xc mn", "intersection_pp": "xa bc xd ef",
    "intersection_lt": "xab xc de", "intersection_tt": "xa bc xd ef", "intersection_lc": "xab o:b",
    "intersection_cc": "o:a w:a",
    "foot": "ax xbc",
    "midpoint": "axb", "mirror": "abx", "reflect": "ax bc", "parallelogram": "abcx*", "orthocenter": "ax bx cx",
    "circumcenter": "abc@", "circle": "abc@", "eq_triangle": "xbc*", "square": "abxy*", "centroid": "abc* ax by cz",
    "incenter2": "abc* i:x", "excenter2": "xbc yca zab i:x", "tangent": "ax ay o:b", "cc_tangent": "xy zi o:a w:b",
    "cc_itangent": "xy zi o:a w:b", "trisect": "ac bx by", "trisegment": "ab", "between_bound": "ab", "segment": "ab",
    "between": "cab", "simtri": "pqr*", "simtrir": "pqr*", "contri": "pqr* abc*", "contrir": "pqr* abc*",
    "iso_trapezoid2": "abcx", "psquare": "xa ab", "nsquare": "xa ab", "incenter": "abc*", "excenter": "abc*",
}  # fmt: skip
_OF_GOALS: dict[str, Callable[[tuple[str, ...]], list[tuple[str, ...]]]] = {
    "coll": lambda p: [p],
    "midp": lambda p: [p],
    "simtri": lambda p: [(*p[:3], p[0]), (*p[3:], p[3])],
    "circle": lambda p: [(p[0], x) for x in p[1:]],
}


@dataclass
class _Scene:
    """What is drawn, in units of the drawing."""

    places: dict[str, tuple[float, float]]
    segments: dict[tuple[str, str], str] = field(default_factory=dict)
    circles: dict[tuple[float, float, float], str] = field(default_factory=dict)


def svg(statement: Statement, configuration: Configuration, identity: str = "figure") -> str:
    """The drawing with a title and a description for readers who do not see it."""
    scene = _scene(statement, configuration)
    drawn = [*_circles(scene), *_segments(scene)]
    drawn += [f'<circle class="figure__point" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in scene.places.values()]
    drawn += _labels(scene)
    said = f'<title id="{identity}-title">Figure of the statement</title>'
    said += f'<desc id="{identity}-text">{escape(described(statement))}</desc>'
    named = f'role="img" aria-labelledby="{identity}-title" aria-describedby="{identity}-text"'
    return f'<svg class="figure" viewBox="0 0 {SIZE:.0f} {SIZE:.0f}" {named}>{said}{"".join(drawn)}</svg>'


def described(statement: Statement) -> str:
    """The statement in words."""
    made = [
        f"{', '.join(map(label, clause.points))}: {', '.join(map(_step_words, clause.steps))}" for clause in statement.clauses
    ]
    goals = [goal_words(goal) for goal in statement.goals]
    return f"{'; '.join(made)}.{' Asserted: ' + '; '.join(goals) + '.' if goals else ''}"


def _step_words(step: Step) -> str:
    names = {
        role: str(getattr(one, "written", one)) for role, one in zip(step.construction.arguments, step.arguments, strict=True)
    }
    return _renamed(step.construction.meaning, names)


def goal_words(goal: Goal) -> str:
    """A goal with its points, such as “AH ⟂ BC”."""
    p = [label(name) for name in goal.points]
    pairs = ["".join(p[i : i + 2]) for i in range(0, len(p), 2)]
    value = goal.values[0].written.replace("o", "°").replace("pi", "π") if goal.values else ""
    words: dict[str, Callable[[], str]] = {
        "coll": lambda: f"{', '.join(p)} on one line",
        "ncoll": lambda: f"{', '.join(p)} not on one line",
        "para": lambda: " ∥ ".join(pairs),
        "perp": lambda: " ⟂ ".join(pairs),
        "npara": lambda: " ∦ ".join(pairs),
        "nperp": lambda: f"{pairs[0]} not ⟂ {pairs[1]}",
        "cong": lambda: " = ".join(pairs),
        "eqangle": lambda: " = ".join(f"∠({pairs[i]}, {pairs[i + 1]})" for i in range(0, len(pairs), 2)),
        "eqratio": lambda: f"{pairs[0]} : {pairs[1]} = {pairs[2]} : {pairs[3]}",
        "cyclic": lambda: f"{', '.join(p)} on one circle",
        "midp": lambda: f"{p[0]} is the midpoint of {p[1]}{p[2]}",
        "circle": lambda: f"{p[0]} is the centre of the circle {''.join(p[1:])}",
        "simtri": lambda: f"{''.join(p[:3])} ∼ {''.join(p[3:])}",
        "simtrir": lambda: f"{''.join(p[:3])} ∼ {''.join(p[3:])}, reversed",
        "contri": lambda: f"{''.join(p[:3])} ≅ {''.join(p[3:])}",
        "contrir": lambda: f"{''.join(p[:3])} ≅ {''.join(p[3:])}, reversed",
        "aconst": lambda: f"∠({pairs[0]}, {pairs[1]}) = {value}",
        "rconst": lambda: f"{pairs[0]} : {pairs[1]} = {value}",
        "r2const": lambda: f"{pairs[0]}² : {pairs[1]}² = {value}",
        "lconst": lambda: f"{pairs[0]} = {value}",
        "l2const": lambda: f"{pairs[0]}² = {value}",
        "diff": lambda: f"{p[0]} ≠ {p[1]}",
    }
    return words[goal.predicate.name]()


_SMALL = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def label(name: str) -> str:
    """The name of a point as it is shown: a1 → A₁."""
    return (name[0].upper() + name[1:]).translate(_SMALL)


def _renamed(meaning: str, names: Mapping[str, str]) -> str:
    """A meaning with the points of a statement: letters that are arguments are replaced where they form a word."""
    words = meaning.split(" ")
    return " ".join(_renamed_word(word, names) for word in words)


def _renamed_word(word: str, names: Mapping[str, str]) -> str:
    core = word.strip("∠(),;:²")
    if core and core != "a" and all(letter in names for letter in core):
        return word.replace(core, "".join(label(names[letter]) for letter in core))
    return word


def _scene(statement: Statement, configuration: Configuration) -> _Scene:
    scene = _Scene({})
    found: list[tuple[tuple[str, ...], str]] = []
    rounds: list[tuple[Circle, str]] = []
    points = configuration.points
    for clause in statement.clauses:
        for step in clause.steps:
            _add_step(step, points, found, rounds)
    for goal in statement.goals:
        _add_goal(goal, points, found, rounds)
    shown = [circle for circle, _ in rounds if circle.square < 4 * max(1.0, _spread(points)) ** 2]
    to_page = _page(points, shown)
    scene.places = {name: to_page(point) for name, point in points.items()}
    for names, style in found:
        if len(set(names)) < 2:
            continue
        ends = _ends(names, points)
        scene.segments[ends] = "goal" if "goal" in (style, scene.segments.get(ends, "")) else style
    for circle, style in rounds:
        if circle in shown:
            x, y = to_page(circle.center)
            radius = abs(to_page(circle.center + math.sqrt(circle.square))[0] - x)
            scene.circles[round(x, 1), round(y, 1), round(radius, 1)] = style
    return scene


def _spread(points: Mapping[str, complex]) -> float:
    places = list(points.values())
    return max((abs(x - y) for x, y in combinations(places, 2)), default=1.0)


def _add_step(
    step: Step, points: Mapping[str, complex], found: list[tuple[tuple[str, ...], str]], rounds: list[tuple[Circle, str]]
) -> None:
    names = {role: str(one) for role, one in zip(step.construction.arguments, step.arguments, strict=True)}
    shape = SHAPES.get(step.construction.name)
    if shape and len(shape[0].split()) > 2 and step.construction.name != "between":
        corners = [names[role] for role in step.construction.arguments]
        found += [((x, y), "line") for x, y in zip(corners, [*corners[1:], corners[0]], strict=True)]
        return
    for piece in _DRAWN.get(step.construction.name, "").split():
        if ":" in piece:
            o, a = (points[names[role]] for role in piece.split(":"))
            rounds.append((Circle(o, square(o - a)), "line"))
        elif piece.endswith("@"):
            _add_circle([names[role] for role in piece[:-1]], points, rounds, "line")
        elif piece.endswith("*"):
            corners = [names[role] for role in piece[:-1]]
            found += [((x, y), "line") for x, y in zip(corners, [*corners[1:], corners[0]], strict=True)]
        else:
            found.append((tuple(names[role] for role in piece), "line"))


def _add_circle(names: Sequence[str], points: Mapping[str, complex], rounds: list[tuple[Circle, str]], style: str) -> None:
    a, b, c = (points[name] for name in names[:3])
    try:
        o = center(a, b, c)
    except Degenerate:
        return
    rounds.append((Circle(o, square(o - a)), style))


def _add_goal(
    goal: Goal, points: Mapping[str, complex], found: list[tuple[tuple[str, ...], str]], rounds: list[tuple[Circle, str]]
) -> None:
    name = "simtri" if goal.predicate.name in ("simtrir", "contri", "contrir") else goal.predicate.name
    if name == "cyclic":
        _add_circle(goal.points, points, rounds, "goal")
    elif name in _OF_GOALS:
        for path in _OF_GOALS[name](goal.points):
            pieces = [path] if name in ("coll", "midp") else list(pairwise(path))
            found += [(tuple(piece), "goal") for piece in pieces]
    elif not goal.predicate.negated:
        found += [(goal.points[i : i + 2], "goal") for i in range(0, len(goal.points) - 1, 2)]


def _ends(names: tuple[str, ...], points: Mapping[str, complex]) -> tuple[str, str]:
    """The two of the points that are farthest apart, in the order of their names."""
    x, y = max(combinations(sorted(set(names)), 2), key=lambda pair: abs(points[pair[0]] - points[pair[1]]))
    return x, y


def _page(points: Mapping[str, complex], circles: Iterable[Circle]) -> Callable[[complex], tuple[float, float]]:
    """The map from coordinates to the drawing, whose y grows downwards."""
    places = list(points.values())
    for circle in circles:
        radius = math.sqrt(circle.square)
        places += [circle.center + radius * turn for turn in (1, 1j, -1, -1j)]
    low = complex(min(z.real for z in places), min(z.imag for z in places))
    high = complex(max(z.real for z in places), max(z.imag for z in places))
    span = max(high.real - low.real, high.imag - low.imag) or 1.0
    scale, middle = (SIZE - 2 * MARGIN) / span, (low + high) / 2
    return lambda z: (SIZE / 2 + (z - middle).real * scale, SIZE / 2 - (z - middle).imag * scale)


def _segments(scene: _Scene) -> Iterator[str]:
    for (a, b), style in sorted(scene.segments.items(), key=lambda item: item[1] == "goal"):
        (x, y), (u, v) = scene.places[a], scene.places[b]
        yield f'<line class="figure__{style}" x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}"/>'


def _circles(scene: _Scene) -> Iterator[str]:
    for (x, y, radius), style in scene.circles.items():
        yield f'<circle class="figure__{style}" cx="{x}" cy="{y}" r="{radius}"/>'


def _labels(scene: _Scene) -> Iterator[str]:
    """Each label in the direction of its point that has most room."""
    taken: list[tuple[float, float]] = []
    for name, (x, y) in scene.places.items():
        spots = [(x + LABEL * math.cos(turn), y + LABEL * math.sin(turn)) for turn in (math.pi * i / 12 for i in range(24))]
        u, v = max(spots, key=lambda spot: _room(spot, scene, taken))
        taken.append((u, v))
        yield f'<text class="figure__label" x="{u:.1f}" y="{v:.1f}">{escape(label(name))}</text>'


def _room(spot: tuple[float, float], scene: _Scene, taken: list[tuple[float, float]]) -> float:
    """The distance to the nearest line, circle, point or label."""
    x, y = spot
    room = [math.dist(spot, place) for place in scene.places.values()] + [math.dist(spot, other) - LABEL / 2 for other in taken]
    room += [_to_segment(spot, scene.places[a], scene.places[b]) for a, b in scene.segments]
    room += [abs(math.dist(spot, (u, v)) - radius) for u, v, radius in scene.circles]
    room += [x, y, SIZE - x, SIZE - y]
    return min(room)


def _to_segment(spot: tuple[float, float], a: tuple[float, float], b: tuple[float, float]) -> float:
    along = (b[0] - a[0], b[1] - a[1])
    length = along[0] ** 2 + along[1] ** 2 or 1.0
    share = ((spot[0] - a[0]) * along[0] + (spot[1] - a[1]) * along[1]) / length
    share = min(1.0, max(0.0, share))
    return math.dist(spot, (a[0] + share * along[0], a[1] + share * along[1]))
