"""Orders and draws over candidates. Pure: equal input and seed give equal output."""

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from apps.reasoning.scaffolds.candidates.desk import Candidate

T = TypeVar("T")


def mean(scores: Sequence[float]) -> float | None:
    """The mean; None where nothing could be read, which is not 0."""
    return sum(scores) / len(scores) if scores else None


def best_first(candidates: Sequence[Candidate], means: Mapping[str, float]) -> list[Candidate]:
    """By mean score, those without one last; among equals by the writer's own score, then the older one first."""
    return sorted(
        candidates, key=lambda one: (one.id not in means, -means.get(one.id, 0.0), -(one.own_score or 0.0), one.order)
    )


def balanced_subsets(members: Sequence[T], size: int, count: int, rng: random.Random) -> list[tuple[T, ...]]:
    """`count` subsets of `size` members each, without repetition inside one, every member equally often (± 1).

    Source: recursive self-aggregation draws subsets at random (QED-Nano App. B); the balance is ours, so that no solution is
    lost by chance. Where there are fewer than `size` members, each subset is all of them.
    """
    size = min(size, len(members))
    used = [0] * len(members)
    subsets = []
    for _ in range(count):
        order = sorted(range(len(members)), key=lambda at: (used[at], rng.random()))
        chosen = order[:size]
        rng.shuffle(chosen)
        for at in chosen:
            used[at] += 1
        subsets.append(tuple(members[at] for at in chosen))
    return subsets
