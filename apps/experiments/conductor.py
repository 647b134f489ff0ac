"""Drive experiments: one thread in every orchestrator process starts cells while there is capacity.

The thread has no state of its own. All work is in the database, so it may die at any moment and another process continues.
"""

import gc
import logging
import threading

from django.db import close_old_connections
from django.db.utils import DatabaseError

logger = logging.getLogger(__name__)
EVERY_S = 1.0
#: Delay after a wake-up, so that cells that end together share their database reads.
GATHER_S = 0.1
#: Cells between two collections. A run leaves some hundred objects in cycles, and automatic collection is set to be rare.
COLLECT_EVERY = 100
_stopped, _woken = threading.Event(), threading.Event()


def wake() -> None:
    """Check for waiting cells now, as a cell ended in this process."""
    _woken.set()


def start() -> threading.Thread:
    """Start the thread; it runs until the process ends."""
    thread = threading.Thread(target=_conduct, name="experiments", daemon=True)
    thread.start()
    return thread


def stop() -> None:
    """Start no further cells."""
    _stopped.set()
    _woken.set()


def _conduct() -> None:
    from apps.experiments.advancing import conduct_once

    since_collected = 0
    while not _stopped.is_set():
        try:
            begun = conduct_once()
            since_collected += begun
            if since_collected >= COLLECT_EVERY:
                since_collected = 0
                gc.collect()
        except DatabaseError as error:
            logger.warning("experiments: the database does not answer (%s)", error)
        except Exception:  # The only thread that starts cells must survive.
            logger.exception("experiments: could not start waiting cells; retrying")
        finally:
            close_old_connections()
        if _woken.wait(EVERY_S):
            _stopped.wait(GATHER_S)
        _woken.clear()
