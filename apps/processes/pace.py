"""Rates and durations of calls. Senders, readers and writers use them to decide how long to wait for a fuller batch.

A message, a round trip and a commit have fixed costs. With many slow calls under way, a short wait for sharing pays off; with
sequential calls, nothing may wait.
"""

import time
from collections import deque

LOOKED_AT = 64
#: Largest part of a call's usual duration for waiting.
PART = 0.1


class Pace:
    """The last `LOOKED_AT` answers. Written by one thread, read by any."""

    def __init__(self) -> None:
        self._at: deque[float] = deque(maxlen=LOOKED_AT)
        self._took_s: deque[float] = deque(maxlen=LOOKED_AT)

    def count(self, took_s: float) -> None:
        """Note an answer and the duration of its call."""
        self._took_s.append(took_s)
        self._at.append(time.monotonic())

    def answers_in(self, seconds: float) -> float:
        """Expected number of answers in that time, from the recent rate; 0 before the second answer."""
        if len(self._at) < 2:
            return 0.0
        return seconds * len(self._at) / max(1e-3, time.monotonic() - self._at[0])

    def patience_s(self, least: float, most: float) -> float:
        """`PART` of the usual duration of a call, between `least` and `most` seconds."""
        took_s = list(self._took_s)
        return max(least, min(most, PART * sum(took_s) / len(took_s))) if took_s else least
