"""Chances drawn from a hash of what they decide, so that a rehearsal is reproducible and independent of the order of calls."""

import hashlib
import math
from functools import lru_cache
from statistics import NormalDist

_NORMAL = NormalDist()
_EDGE = 1e-9


def uniform(*of: object) -> float:
    """A number from 0 (included) to 1 (excluded), the same for the same `of`."""
    digest = hashlib.blake2b("\0".join(map(str, of)).encode(), digest_size=7).digest()
    return int.from_bytes(digest) / 2**56


def gaussian(*of: object) -> float:
    """A draw from the standard normal distribution, the same for the same `of`."""
    return _NORMAL.inv_cdf(min(1 - _EDGE, max(_EDGE, uniform(*of))))


def amount(mean: float, spread: float, *of: object) -> float:
    """A draw above 0 from a log-normal distribution with this mean; `spread`: standard deviation of its logarithm."""
    return mean * math.exp(spread * gaussian(*of) - spread**2 / 2)


@lru_cache(maxsize=65536)
def mark(*of: object) -> str:
    """Eight hex digits that name what was written in a call."""
    return hashlib.blake2b("\0".join(map(str, of)).encode(), digest_size=4).hexdigest()


def logistic(value: float) -> float:
    """1 / (1 + e^(−value)), for any size of `value`."""
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


def log_odds(chance: float) -> float:
    """Inverse of `logistic`, kept finite at 0 and 1."""
    kept = min(1 - _EDGE, max(_EDGE, chance))
    return math.log(kept / (1 - kept))
