"""Rankings and random subsets of candidates. Pure: equal input and seed give equal output."""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Ranked(Protocol):
    """A candidate, of the running search or of the story of a run."""

    @property
    def id(self) -> str: ...

    @property
    def steps(self) -> tuple[str, ...]: ...

    @property
    def own_score(self) -> float | None: ...

    @property
    def order(self) -> tuple[int, ...]: ...


C = TypeVar("C", bound=Ranked)


def mean(scores: Sequence[float]) -> float | None:
    """The mean; None without scores, which is not 0."""
    return sum(scores) / len(scores) if scores else None


def best_first(candidates: Iterable[C], means: Mapping[str, float]) -> list[C]:
    """Sort by mean score, those without one last; ties by the writer's own score, then by age, oldest first."""
    return sorted(
        candidates, key=lambda one: (one.id not in means, -means.get(one.id, 0.0), -(one.own_score or 0.0), one.order)
    )


def id_of(candidate: Ranked | None) -> str:
    """The id, "" for none: what a scaffold hands in."""
    return candidate.id if candidate else ""


def balanced_subsets(members: Sequence[T], size: int, count: int, rng: random.Random) -> list[tuple[T, ...]]:
    """Draw `count` subsets of `size` distinct members each; every member is used equally often (± 1).

    Source: recursive self-aggregation draws subsets at random (QED-Nano App. B); balancing is ours, so that no solution is
    lost by chance. With fewer than `size` members, each subset contains all of them.
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
