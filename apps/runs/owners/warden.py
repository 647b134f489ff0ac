"""Finds runs without owner and enqueues their task again. One thread in every orchestrator process.

This is what makes "kill any process" true for the orchestrator: its leases run out (at once, where the dead process was on
this machine) and another process, or the restarted one, takes the runs over.
"""

import logging
import threading

from django.conf import settings
from django.db import close_old_connections
from django.db.utils import DatabaseError

from apps.processes import metrics
from apps.processes.streams import queue_length, sync_client
from apps.runs.owners.leases import lease_mark_dispatched, runs_without_owner
from apps.runs.tasks import orchestrate

logger = logging.getLogger(__name__)
EVERY_S = 1.0
_stopped = threading.Event()


def watch_once() -> int:
    """Send one task for each run without an owner; returns how many. Holds back while the queue is long."""
    runs = runs_without_owner()
    if runs and queue_length(sync_client(), settings.CELERY_TASK_DEFAULT_QUEUE) > 2 * settings.ORCHESTRATOR_RUNS:
        return 0
    sent = 0
    for run_pk in runs:
        if lease_mark_dispatched(run_pk):
            orchestrate.delay(run_pk)
            sent += 1
            metrics.count("runs_found_without_owner")
    return sent


def start() -> threading.Thread:
    """Watch until the process ends."""
    thread = threading.Thread(target=_watch, name="run-warden", daemon=True)
    thread.start()
    return thread


def stop() -> None:
    """Stop watching: a stopping process must not take its released runs again."""
    _stopped.set()


def _watch() -> None:
    while not _stopped.is_set():
        try:
            sent = watch_once()
            if sent:
                logger.info("warden: %d runs had no owner", sent)
        except DatabaseError as error:
            logger.warning("warden: the database does not answer (%s)", error)
        except Exception as error:  # A broker that is away raises many kinds; the next second tries again.
            logger.warning("warden: %s", error)
        finally:
            close_old_connections()
        _stopped.wait(EVERY_S)
