"""Tests every goal of a statement on 200 random configurations. A refutation is computed again with 50 digits.

It never proves. A goal that survives may still be false in configurations that were not drawn.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from apps.geometry.configurations import WANTED, Configuration, NoConfiguration, build, clearness, configurations, real
from apps.geometry.loci import FLOATS, Degenerate, Numbers, Point, Real, digits
from apps.geometry.statement import Goal, Statement

REFUTED, SURVIVED, NOT_UNDERSTOOD, PROVED = "refuted", "survived", "not_understood", "proved"
#: Above this residual in floating point a goal is computed again; above the second one with 50 digits it is refuted.
SUSPICIOUS, WRONG = 1e-8, 1e-12
#: With 50 digits, a residual below this is 0.
NOTHING = 1e-30
#: Configurations computed again for one goal.
MOST_CONFIRMED = 12


@dataclass(frozen=True)
class Outcome:
    """The outcome of one goal. A refuted goal has the configuration, with coordinates as decimals, and its residual there."""

    goal: Goal
    outcome: str
    words: str
    configurations: int = 0
    at: Configuration | None = None
    coordinates: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Check:
    """All configurations of a statement and the outcomes of its goals. Without configurations, `reason` says why."""

    statement: Statement
    configurations: tuple[Configuration, ...]
    outcomes: tuple[Outcome, ...]
    reason: str = ""


@lru_cache(maxsize=128)
def check(statement: Statement) -> Check:
    """The check of a statement; the same for every call."""
    try:
        found = tuple(configurations(statement))
    except NoConfiguration as reason:
        said = f"no configuration found: {reason}."
        return Check(
            statement, (), tuple(Outcome(goal, NOT_UNDERSTOOD, f"Not tested, {said}") for goal in statement.goals), said
        )
    return Check(statement, found, tuple(_outcome(statement, goal, found) for goal in statement.goals))


def residual(goal: Goal, points: Mapping[str, Point], numbers: Numbers) -> Real:
    """How far the goal is from being true, without a unit. Raises `Degenerate` where it has no meaning."""
    try:
        return goal.predicate.residual(
            numbers, [points[name] for name in goal.points], *(real(one, numbers) for one in goal.values)
        )
    except ZeroDivisionError as error:
        raise Degenerate("the goal has no meaning here") from error


def _outcome(statement: Statement, goal: Goal, found: tuple[Configuration, ...]) -> Outcome:
    sizes: dict[Configuration, float] = {}
    for configuration in found:
        with contextlib.suppress(Degenerate):
            sizes[configuration] = float(residual(goal, configuration.points, FLOATS))
    for configuration in _suspicious(goal, sizes)[:MOST_CONFIRMED]:
        exact = _exactly(statement, goal, configuration.seed)
        if exact is not None:
            return exact
    tested = len(sizes)
    if tested < WANTED:
        return Outcome(goal, NOT_UNDERSTOOD, f"Only {tested} of {WANTED} configurations could be tested.", tested)
    return Outcome(goal, SURVIVED, f"Survived {tested} configurations.", tested)


def _suspicious(goal: Goal, sizes: Mapping[Configuration, float]) -> list[Configuration]:
    """The configurations that may refute the goal; first those where it fails visibly, the most readable one first."""
    if goal.predicate.negated:
        return [one for one, size in sizes.items() if size < SUSPICIOUS]
    suspicious = [one for one, size in sizes.items() if not size < SUSPICIOUS]
    visible = max(sizes.values(), default=0.0) / 3
    return sorted(suspicious, key=lambda one: (sizes[one] < visible, -clearness(one)))


def _exactly(statement: Statement, goal: Goal, seed: int) -> Outcome | None:
    """The refutation in a configuration, with 50 digits; None if the goal holds there."""
    numbers = digits(50)
    try:
        configuration = build(statement, seed, numbers)
        size = residual(goal, configuration.points, numbers)
    except Degenerate:
        return None
    if (size >= NOTHING) if goal.predicate.negated else (size <= WRONG):
        return None
    places = tuple((name, _decimal(point.real), _decimal(point.imag)) for name, point in configuration.points.items())
    words = "Fails in one configuration." if goal.predicate.negated else f"Off by {float(size):.2g} in one configuration."
    return Outcome(goal, REFUTED, f"{words} Computed with 50 digits.", 0, configuration, places)


def _decimal(number: Real) -> str:
    return f"{float(number):.6f}"
