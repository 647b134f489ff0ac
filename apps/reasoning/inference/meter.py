"""Tokens per second over the last seconds, cheap enough to count every piece of every stream."""

import time
from collections import deque
from collections.abc import Callable


class RateMeter:
    """Counts tokens in buckets of one second; `rate` is the mean over `window_s` whole seconds (less while it is young)."""

    def __init__(self, window_s: int = 10, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: deque[list[float]] = deque(maxlen=window_s + 1)
        self._window_s = window_s

    def add(self, tokens: int) -> None:
        second = float(int(self._clock()))
        if self._buckets and self._buckets[-1][0] == second:
            self._buckets[-1][1] += tokens
        else:
            self._buckets.append([second, float(tokens)])

    @property
    def rate(self) -> float:
        now = self._clock()
        recent = [(second, tokens) for second, tokens in self._buckets if second > now - self._window_s]
        if not recent:
            return 0.0
        span = max(1.0, now - recent[0][0])
        return sum(tokens for _, tokens in recent) / span
