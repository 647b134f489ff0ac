"""Finds runs without owner and enqueues their task again, every second in every orchestrator process.

This is what makes "kill any process" true for the orchestrator: its leases run out (at once, where the dead process was on
this machine) and another process, or the restarted one, takes the runs over.
"""

import logging

from django.conf import settings

from apps.processes import metrics
from apps.processes.streams import queue_length, sync_client
from apps.runs.owners.leases import lease_mark_dispatched, runs_without_owner
from apps.runs.queues import orchestrate

logger = logging.getLogger(__name__)


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
    if sent:
        logger.info("warden: %d runs had no owner", sent)
    return sent
