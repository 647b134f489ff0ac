"""How fast answers come and how long calls take. Whoever sends, reads or writes asks it how long to wait for company.

A message, a round trip and a commit cost the same whatever is in them. Where many calls are under way and each takes a while,
a small part of that while is a fair price for sharing; where one thing is asked after the other nobody may wait.
"""

import time
from collections import deque

LOOKED_AT = 64
#: The part of a call's usual time that may go into waiting for others.
PART = 0.1


class Pace:
    """The last `LOOKED_AT` answers. Written by one thread, read by any."""

    def __init__(self) -> None:
        self._at: deque[float] = deque(maxlen=LOOKED_AT)
        self._took_s: deque[float] = deque(maxlen=LOOKED_AT)

    def count(self, took_s: float) -> None:
        """An answer came to a call that took so long."""
        self._took_s.append(took_s)
        self._at.append(time.monotonic())

    def answers_in(self, seconds: float) -> float:
        """How many come in that time, as things went lately; 0 before the second."""
        if len(self._at) < 2:
            return 0.0
        return seconds * len(self._at) / max(1e-3, time.monotonic() - self._at[0])

    def patience_s(self, least: float, most: float) -> float:
        """The `PART` of what a call usually takes, between `least` and `most` seconds."""
        took_s = list(self._took_s)
        return max(least, min(most, PART * sum(took_s) / len(took_s))) if took_s else least
