"""Work that a process repeats: one daemon thread that calls a function every so often, or at once when it is woken."""

import logging
import threading
from collections.abc import Callable

from django.db import close_old_connections
from django.db.utils import DatabaseError
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
#: What an unavailable database or broker raises. It is expected, and the next round tries again.
UNAVAILABLE = (DatabaseError, RedisError, OperationalError, OSError)


class Watcher:
    """A thread that has no state of its own: it may die with its process at any moment, and another process continues.

    `every_s`: seconds between two rounds, and before the first one if it `waits_first`. `gather_s`: delay after a wake-up, so
    that events close together share a round.
    """

    def __init__(self, name: str, every_s: float, *, gather_s: float = 0.0, waits_first: bool = False) -> None:
        self.name, self.every_s, self._gather_s, self._waits_first = name, every_s, gather_s, waits_first
        self._stopped, self._woken = threading.Event(), threading.Event()
        self._trouble = ""

    def start(self, work: Callable[[], object]) -> threading.Thread:
        """Call `work` in rounds until `stop` or the end of the process. Its errors are logged and end only their round."""
        thread = threading.Thread(target=self._watch, args=(work,), name=self.name, daemon=True)
        thread.start()
        return thread

    def wake(self) -> None:
        """Begin the next round now. No effect in a process that did not start this watcher."""
        self._woken.set()

    def stop(self) -> None:
        """Begin no further round."""
        self._stopped.set()
        self._woken.set()

    def _watch(self, work: Callable[[], object]) -> None:
        if self._waits_first:
            self._stopped.wait(self.every_s)
        while not self._stopped.is_set():
            self._round(work)
            if self._woken.wait(self.every_s):
                self._stopped.wait(self._gather_s)
            self._woken.clear()

    def _round(self, work: Callable[[], object]) -> None:
        try:
            work()
            self._trouble = ""
        except UNAVAILABLE as error:
            if str(error) != self._trouble:  # Not once a round for as long as the database or the broker is away.
                logger.warning("%s: %s", self.name, error)
            self._trouble = str(error)
        except Exception as error:  # The only thread that does this work must survive.
            if str(error) != self._trouble:
                logger.exception("%s: a round failed; the next one tries again", self.name)
            self._trouble = str(error)
        finally:
            close_old_connections()
