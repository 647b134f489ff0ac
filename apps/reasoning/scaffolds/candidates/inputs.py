"""Selection of the texts of one role on which the next role works, when a whole group answers each input.

Source: MarsRL §3.3. The trainer's toy selects by the same rule (recipes/mathematics/mars.py). Neither may import the other; a
test keeps them equal.
"""

import random
from collections.abc import Sequence
from typing import Literal, TypeVar

T = TypeVar("T")
Choice = Literal["random", "balanced", "adaptive"]


def chosen(
    inputs: Sequence[T], rewards: Sequence[float | None], *, choice: Choice, high_first: bool, wanted: int, rng: random.Random
) -> list[T]:
    """Choose at most `wanted` inputs. `rewards`: 1, 0 or None (undecided) for each.

    `random`: any. `balanced`: half of each reward, filled up with the other kind, then with the undecided. `adaptive`: reward 1
    first with `high_first`, else reward 0 first; then the undecided, then the others. Ties are random.
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
    """Alternate the two kinds while both last, starting with the kind drawn first. The undecided come last."""
    good = [place for place in order if _rank(rewards[place], high_first=True) == 0]
    bad = [place for place in order if _rank(rewards[place], high_first=True) == 2]
    open_ = [place for place in order if rewards[place] is None]
    decided = next((place for place in order if rewards[place] is not None), None)
    first, second = (good, bad) if decided in good else (bad, good)
    both = min(len(first), len(second))
    paired = [place for pair in zip(first, second, strict=False) for place in pair]
    return paired + first[both:] + second[both:] + open_
