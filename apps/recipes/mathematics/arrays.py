"""Arrays of rows × tokens for losses, with checks that give readable messages instead of broadcast errors."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]


class NotLearnable(ValueError):
    """The data cannot be learned from; the message says which datum and why."""


class NothingToLearn(NotLearnable):
    """The data is valid, but no answer is better than another, or none is worth imitating."""


def finite(values: ArrayLike, what: str) -> Array:
    """`values` as float64. Raises `NotLearnable` naming the first NaN or infinity."""
    array = np.asarray(values, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        place = tuple(int(index) for index in bad[0])
        raise NotLearnable(f"{what}: {array[place]} at {place or 'its only place'}; every value must be a finite number.")
    return array


def group_rewards(rewards: Sequence[float]) -> Array:
    """Rewards of one group, shape (G,). Raises `NotLearnable` for an empty group, NaN or an infinity."""
    array = finite(rewards, "Rewards of a group")
    if array.ndim != 1 or not array.size:
        raise NotLearnable("A group needs at least one reward, in one dimension.")
    return array


def token_mask(mask: ArrayLike, shape: tuple[int, ...]) -> Array:
    """A mask of zeros and ones with the given shape. Raises `NotLearnable` for any other value or shape."""
    array = finite(mask, "The token mask")
    if array.shape != shape:
        raise NotLearnable(f"The token mask has shape {array.shape}, the tokens have {shape}.")
    if not np.isin(array, (0.0, 1.0)).all():
        raise NotLearnable("The token mask has values other than 0 and 1.")
    return array


def per_token(advantages: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Advantages as (rows, tokens); one number per row applies to all its tokens. Raises `NotLearnable` where shapes differ."""
    array = finite(advantages, "Advantages")
    if array.shape == shape:
        return array
    if array.shape == shape[:1]:
        return np.broadcast_to(array[:, None], shape).astype(np.float64)
    raise NotLearnable(f"Advantages have shape {array.shape}; rows and tokens are {shape}.")


def under_mask(values: ArrayLike, mask: Array, what: str) -> Array:
    """`values` with 0 where the mask is 0, so that no value of a masked token, not even NaN, reaches a loss."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != mask.shape:
        raise NotLearnable(f"{what} has shape {array.shape}, the tokens have {mask.shape}.")
    return finite(np.where(mask > 0, array, 0.0), what)
