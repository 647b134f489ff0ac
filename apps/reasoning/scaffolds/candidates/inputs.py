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
    inputs: Sequence[T], rewards: Sequence[float | None], *, choice: Choice, high_first: bool, wanted: int, rng: random.Random
) -> list[T]:
    """`wanted` of the inputs, or as many as there are. `rewards`: of each, 1 or 0, or None where it is undecided.

    `random`: any. `balanced`: half of each reward, filled up from the other kind, then from the undecided. `adaptive`: those of
    reward 1 first where `high_first`, else those of reward 0; the undecided before the others. Ties are drawn.
    """
    order = list(range(len(inputs)))
    rng.shuffle(order)
    if choice == "adaptive":
        order.sort(key=lambda place: _rank(rewards[place], high_first=high_first))
    elif choice == "balanced":
        order = _alternating(order, rewards)
    return [inputs[place] for place in order[:wanted]]


def _rank(reward: float | None, *, high_first: bool) -> int:
    """0 for the wanted kind, 1 for the undecided, 2 for the other kind."""
    return 1 if reward is None else 2 * ((reward > 0) != high_first)


def _alternating(order: list[int], rewards: Sequence[float | None]) -> list[int]:
    """The two kinds in turns, as long as there are both; the kind of the first drawn begins. The undecided come last."""
    good = [place for place in order if _rank(rewards[place], high_first=True) == 0]
    bad = [place for place in order if _rank(rewards[place], high_first=True) == 2]
    open_ = [place for place in order if rewards[place] is None]
    decided = next((place for place in order if rewards[place] is not None), None)
    first, second = (good, bad) if decided in good else (bad, good)
    both = min(len(first), len(second))
    paired = [place for pair in zip(first, second, strict=False) for place in pair]
    return paired + first[both:] + second[both:] + open_
