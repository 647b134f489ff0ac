"""A thread of every orchestrator that resends tasks of suggestions whose task or process was lost."""

import logging
import threading

from django.db import close_old_connections

from apps.marks.suggestions.suggesting import suggestions_resend

logger = logging.getLogger(__name__)
EVERY_S = 30.0
_stopped = threading.Event()


def start() -> threading.Thread:
    """Watch until the process ends."""
    thread = threading.Thread(target=_watch, name="suggestion-watch", daemon=True)
    thread.start()
    return thread


def stop() -> None:
    """Stop watching."""
    _stopped.set()


def _watch() -> None:
    while not _stopped.wait(EVERY_S):
        try:
            suggestions_resend()
        except Exception as error:  # An unavailable broker or database raises many kinds of errors; the next round retries.
            logger.warning("could not resend suggestions: %s", error)
        finally:
            close_old_connections()
