"""Slots given first come, first served: when each job begins and ends, and how busy the slots were."""

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
    """What the slots did from the first job to the last: begin and end of every job, in units of time."""

    begins: Lengths
    ends: Lengths

    @property
    def duration(self) -> float:
        """When the last job ended."""
        return float(self.ends.max(initial=0.0))

    def then(self, other: "Shift") -> "Shift":
        """Both, one after the other."""
        wait = self.duration
        return Shift(np.concatenate([self.begins, other.begins + wait]), np.concatenate([self.ends, other.ends + wait]))

    def profile(self, slots: int, points: int = PROFILE_POINTS) -> tuple[Lengths, Lengths]:
        """Times and the share of slots that were busy, as means over equal pieces of the duration."""
        edges = np.linspace(0.0, self.duration, points + 1)
        spent = np.array([np.minimum(self.ends, edge).sum() - np.minimum(self.begins, edge).sum() for edge in edges])
        width = self.duration / points
        return edges[:-1] + width / 2, np.diff(spent) / (width * slots) if width else np.zeros(points)


def listed(lengths: Sequence[float], slots: int) -> Shift:
    """Jobs that are all ready at the start, taken in their order."""
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
    """Chains of groups of jobs: the jobs of a group are ready when all of the group before have ended."""
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
