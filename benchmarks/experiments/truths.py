"""Simulated methods: chances to solve problems, with many problems that are always or never solved, and their scores."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from apps.reasoning.statistics.intervals import Floats

REPEATS = 4
#: Part of the fixed problems (chance 0 or 1) that another method leaves as they are.
STAYS_FIXED = 0.8


@dataclass(frozen=True)
class Truth:
    """Chances of problems: a share is never solved, a share is always solved, and the rest is Beta(a, b)."""

    never: float
    always: float
    a: float
    b: float

    def chances(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        kind = rng.random(shape)
        between = rng.beta(self.a, self.b, shape)
        return np.where(kind < self.never, 0, np.where(kind > 1 - self.always, 1, between))


TRUTHS: Mapping[str, Truth] = {
    "mixed": Truth(0.3, 0.25, 1, 1),
    "hard": Truth(0.6, 0.05, 1, 3),
    "very hard": Truth(0.8, 0.02, 1, 3),
    "easy": Truth(0.05, 0.6, 3, 1),
    "smooth": Truth(0, 0, 0.5, 0.5),
    "rarely solved": Truth(0.9, 0, 1, 1),
    "nearly all solved": Truth(0.02, 0.9, 2, 2),
}
#: How another method differs, in log odds of its chances: mean and standard deviation over problems.
SHIFTS = ((0.0, 0.0), (0.0, 1.0), (0.7, 0.5), (1.5, 1.0))


def another(rng: np.random.Generator, chances: Floats, shift: tuple[float, float]) -> Floats:
    """Chances of a method that is better by `shift`; most problems that were never or always solved stay so."""
    inside = np.clip(chances, 1e-3, 1 - 1e-3)
    moved = 1 / (1 + np.exp(-np.log(inside / (1 - inside)) - rng.normal(*shift, chances.shape)))
    fixed = np.isin(chances, (0, 1)) & ((rng.random(chances.shape) < STAYS_FIXED) | (shift == (0, 0)))
    return np.where(fixed, chances, moved)


def solved(rng: np.random.Generator, chances: Floats, repeats: int = REPEATS) -> Floats:
    """Scores of 0 or 1, with one more axis for repeats."""
    return (rng.random((*chances.shape, repeats)) < chances[..., None]).astype(np.float64)


def points(rng: np.random.Generator, chances: Floats, repeats: int = REPEATS) -> Floats:
    """Points of 7: 6 or 7 for a solution, else mostly few points; a problem that is never solved mostly has 0."""
    full = solved(rng, chances, repeats) > 0
    solution = np.where(rng.random(full.shape) < 0.8, 7, 6)
    attempt = np.floor(rng.beta(0.6, 2, full.shape) * 6)
    nothing = (chances[..., None] == 0) & (rng.random(full.shape) < 0.7)
    return np.where(full, solution, np.where(nothing, 0, attempt))
