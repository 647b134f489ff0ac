"""Watches for suggestions whose task or whose process was lost, and sends their task again. A thread in every orchestrator."""

import logging
import threading

from django.db import close_old_connections

from apps.marks.suggesting import suggestions_resend

logger = logging.getLogger(__name__)
EVERY_S = 30.0
_stopped = threading.Event()


def start() -> threading.Thread:
    """Watch until the process ends."""
    thread = threading.Thread(target=_watch, name="suggestion-watch", daemon=True)
    thread.start()
    return thread


def stop() -> None:
    """Watch no longer."""
    _stopped.set()


def _watch() -> None:
    while not _stopped.wait(EVERY_S):
        try:
            suggestions_resend()
        except Exception as error:  # A broker or database that is away raises many kinds; the next look tries again.
            logger.warning("suggestions wait: %s", error)
        finally:
            close_old_connections()
