"""Which texts of one role the next role works on, where each input is answered by a whole group.

Source: MarsRL §3.3. The trainer's toy chooses by the same rule (workers/learning/mars.py). Neither may import the other; a test
holds them together.
"""

import random
from collections.abc import Sequence
from typing import Literal, TypeVar

T = TypeVar("T")
Choice = Literal["random", "balanced", "adaptive"]


def chosen(
    inputs: Sequence[T], rewards: Sequence[float], *, choice: Choice, high_first: bool, wanted: int, rng: random.Random
) -> list[T]:
    """`wanted` of the inputs, or as many as there are. `rewards`: of each, 1 or 0.

    `random`: any. `balanced`: half of each reward, filled up from the other kind. `adaptive`: those of reward 1 first where
    `high_first`, else those of reward 0. Ties are drawn.
    """
    order = list(range(len(inputs)))
    rng.shuffle(order)
    if choice == "adaptive":
        order.sort(key=lambda place: (rewards[place] > 0) != high_first)
    elif choice == "balanced":
        order = _alternating(order, rewards)
    return [inputs[place] for place in order[:wanted]]


def _alternating(order: list[int], rewards: Sequence[float]) -> list[int]:
    """The two kinds in turns, as long as there are both; the kind of the first drawn begins."""
    good = [place for place in order if rewards[place] > 0]
    bad = [place for place in order if rewards[place] <= 0]
    first, second = (good, bad) if order and rewards[order[0]] > 0 else (bad, good)
    both = min(len(first), len(second))
    paired = [place for pair in zip(first, second, strict=False) for place in pair]
    return paired + first[both:] + second[both:]
