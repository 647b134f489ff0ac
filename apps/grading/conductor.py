"""Keeps experiments going: one thread in every orchestrator process begins cells while there is room.

It holds nothing: what is to be done stands in the rows, so it may die at any moment, and any process may go on.
"""

import gc
import logging
import threading

from django.db import close_old_connections
from django.db.utils import DatabaseError

logger = logging.getLogger(__name__)
EVERY_S = 1.0
#: After a wake-up, so that several cells that end together are one look: what they share is asked of the database once.
GATHER_S = 0.1
#: A run leaves some hundred objects in cycles behind, and the orchestrator's collector is told to look very rarely.
COLLECT_EVERY = 100
_stopped, _woken = threading.Event(), threading.Event()


def wake() -> None:
    """Something ended in this process: look at once."""
    _woken.set()


def start() -> threading.Thread:
    """Conduct until the process ends."""
    thread = threading.Thread(target=_conduct, name="experiments", daemon=True)
    thread.start()
    return thread


def stop() -> None:
    """Begin nothing any more."""
    _stopped.set()
    _woken.set()


def _conduct() -> None:
    from apps.grading.advancing import conduct_once

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
        except Exception:  # The one thread that begins cells must not end.
            logger.exception("experiments: nothing could be begun")
        finally:
            close_old_connections()
        if _woken.wait(EVERY_S):
            _stopped.wait(GATHER_S)
        _woken.clear()
