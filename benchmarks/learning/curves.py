"""Curves as a small SVG file, for results that are committed: no library, the same bytes for the same numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 56, 190, 44, 48
COLOURS = ("#1f5fbf", "#c2571a", "#2e7d4f", "#8a3fa0")
#: Steps that are averaged, so that curves are readable.
SMOOTHED = 7


@dataclass(frozen=True)
class Curve:
    """A named curve of shares by step."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Point:
    """A measured share with its interval."""

    step: float
    value: float
    interval: Sequence[float] | None
    name: str


def drawn(title: str, steps: str, curves: Sequence[Curve], points: Sequence[Point]) -> str:
    """The SVG. Curves are means of up to seven steps around each."""
    last = max([1.0, *(step for curve in curves for step, _ in curve.points)])
    parts = [*_axes(title, steps, last)]
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{_x(step, last):.1f},{_y(value):.1f}" for step, value in _smooth(curve.points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(WIDTH - RIGHT + 14, TOP + 16 + 20 * number, curve.name, colour))
    for number, point in enumerate(points):
        x, y = _x(point.step, last), _y(point.value)
        if point.interval:
            low, high = map(_y, point.interval)
            parts.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="#111" stroke-width="1.5"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="#111"/>')
        parts.append(_text(WIDTH - RIGHT + 14, TOP + 36 + 20 * (len(curves) + number), f"● {point.name}", "#111"))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', *parts, "</svg>"]) + "\n"


def _axes(title: str, steps: str, last: float) -> list[str]:
    parts = [_text(LEFT, 24, title, "#111", size=15)]
    for tenth in range(0, 11, 2):
        y = _y(tenth / 10)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{tenth / 10:.1f}", "#444", anchor="end"))
    for quarter in range(5):
        step = last * quarter / 4
        parts.append(_text(_x(step, last), HEIGHT - BOTTOM + 20, f"{step:.0f}", "#444", anchor="middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, steps, "#444", anchor="middle"))
    return parts


def _smooth(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    half = SMOOTHED // 2
    found = []
    for place, (step, _) in enumerate(points):
        near = [value for _, value in points[max(0, place - half) : place + half + 1]]
        found.append((step, sum(near) / len(near)))
    return found


def _x(step: float, last: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * step / last


def _y(value: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value


def _text(x: float, y: float, words: str, colour: str, *, anchor: str = "start", size: int = 13) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'
