"""First-come, first-served slots: begin and end of each job, and how busy the slots are."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Lengths: TypeAlias = NDArray[np.float64]
PROFILE_POINTS = 160


@dataclass(frozen=True)
class Shift:
    """Begin and end of every job on the slots, in units of time."""

    begins: Lengths
    ends: Lengths

    @property
    def duration(self) -> float:
        """End of the last job."""
        return float(self.ends.max(initial=0.0))

    def then(self, other: "Shift") -> "Shift":
        """This shift followed by another."""
        wait = self.duration
        return Shift(np.concatenate([self.begins, other.begins + wait]), np.concatenate([self.ends, other.ends + wait]))

    def profile(self, slots: int, points: int = PROFILE_POINTS) -> tuple[Lengths, Lengths]:
        """Times and mean shares of busy slots, over equal intervals of the duration."""
        edges = np.linspace(0.0, self.duration, points + 1)
        spent = np.array([np.minimum(self.ends, edge).sum() - np.minimum(self.begins, edge).sum() for edge in edges])
        width = self.duration / points
        return edges[:-1] + width / 2, np.diff(spent) / (width * slots) if width else np.zeros(points)


def listed(lengths: Sequence[float], slots: int) -> Shift:
    """Schedule jobs that are all ready at the start, in their order."""
    ends = np.array(lengths, dtype=np.float64)
    begins = np.zeros_like(ends)
    free: list[float] = []
    for place, length in enumerate(lengths):
        if place < slots:
            heappush(free, length)
            continue
        begins[place] = free[0]
        ends[place] = free[0] + length
        heapreplace(free, float(ends[place]))
    return Shift(begins, ends)


def chained(chains: Sequence[Sequence[Lengths]], slots: int) -> Shift:
    """Schedule chains of groups: the jobs of a group are ready when all jobs of the previous group have ended."""
    waiting = deque((number, float(length)) for number, chain in enumerate(chains) for length in chain[0])
    left = [len(chain[0]) for chain in chains]
    reached = [0] * len(chains)
    running: list[tuple[float, int]] = []
    begins, ends = [], []
    now = 0.0
    while waiting or running:
        while waiting and len(running) < slots:
            number, length = waiting.popleft()
            begins.append(now)
            ends.append(now + length)
            heappush(running, (now + length, number))
        now, number = heappop(running)
        left[number] -= 1
        if left[number] == 0 and reached[number] + 1 < len(chains[number]):
            reached[number] += 1
            group = chains[number][reached[number]]
            left[number] = len(group)
            waiting.extend((number, float(length)) for length in group)
    return Shift(np.array(begins), np.array(ends))
