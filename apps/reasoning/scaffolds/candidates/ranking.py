"""Rankings and random subsets of candidates. Pure: equal input and seed give equal output."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    return sorted(candidates, key=lambda one: (one.id not in means, -means.get(one.id, 0.0), *tie(one)))


def tie(one: Ranked) -> tuple[float, tuple[int, ...]]:
    """The order of candidates with equal means, best first: the writer's own score, then age."""
    return -(one.own_score or 0.0), one.order


def leader(candidates: Mapping[str, C], means: Mapping[str, float], accepts: Callable[[str, float], bool]) -> C | None:
    """The candidate with the highest mean; ties go to one that `accepts` (by id and mean), then as in `best_first`."""
    if not means:
        return min(candidates.values(), key=tie, default=None)
    top = max(means.values())
    best = [name for name, mean in means.items() if mean == top]
    return min((candidates[name] for name in [name for name in best if accepts(name, top)] or best), key=tie)


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
