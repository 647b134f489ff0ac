"""A new epoch after a restore: remove all state from after the backup, in the broker and in every process.

The broker's data about runs is expendable (docs/life_of_a_run.md), so it is deleted: marks of answered calls, recorded results,
flags of cancelled runs, and streams of events whose numbers are used again. That is safe once no process drives runs. Inference
workers have no database and may keep running. They are asked to drop their calls; a late answer arrives as a result together
with its mark, as usual.
"""

import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from redis.exceptions import RedisError

from apps.learning.queues import TRAIN_QUEUE
from apps.operations.backups.databases import NotRestored
from apps.processes.local import is_stack_up
from apps.processes.pulse import LIVES_MS, pulses
from apps.processes.streams import HOUR_S, cancel_key, heartbeats, runs_forget, sync_client
from apps.runs.owners.leases import leases_void

#: Time for workers to drop calls from after the backup. Answers to calls that they still hold are ignored.
DROP_WITHIN_S = 10.0
Report = Callable[[str], None]
T = TypeVar("T")


def processes_stopped(report: Report) -> None:
    """Wait until no web process, orchestrator or train worker has a heartbeat; the last one expires after 8 s.

    Raises `NotRestored` if some keep running, or if the broker does not answer. The embedded broker runs with the whole stack.
    """
    if settings.OWN_REDIS:
        if is_stack_up():
            raise NotRestored(
                "Lemmascope is still running: its broker answers. Stop it with Ctrl-C in `make up`. Nothing was restored."
            )
        return
    until, is_reported = time.monotonic() + LIVES_MS / 1000 + 1, False
    while running := sorted(f"{pulse['kind']} {pulse['name']}" for pulse in _ask_broker(lambda: pulses(sync_client()))):
        if time.monotonic() > until:
            raise NotRestored(
                f"These processes are still running: {', '.join(running)}. Stop them on every machine: they hold data that the "
                "restored database does not have. Inference workers may keep running. Nothing was restored."
            )
        if not is_reported:
            report(f"Waiting for the last heartbeat of {len(running)} processes …")
            is_reported = True
        time.sleep(0.5)


def broker_forget(report: Report) -> None:
    """Delete the broker's data about runs, after workers have dropped their calls. Raises `NotRestored`."""
    if settings.OWN_REDIS:
        shutil.rmtree(Path(settings.DATA_DIR) / "valkey", ignore_errors=True)
        return
    until = time.monotonic() + DROP_WITHIN_S
    while runs := _ask_broker(_runs_held):
        _ask_broker(partial(_cancel, runs))
        if time.monotonic() > until:
            report(f"Inference workers still hold calls of {len(runs)} runs; their answers will be ignored.")
            break
        time.sleep(0.5)
    queues = (settings.CELERY_TASK_DEFAULT_QUEUE, TRAIN_QUEUE)
    deleted = _ask_broker(lambda: runs_forget(sync_client(), queues))
    report(f"Deleted the broker's data about runs ({deleted} keys).")


def _runs_held() -> set[str]:
    return {call["run"] for beat in heartbeats(sync_client()) for call in beat["active"]}


def _cancel(runs: set[str]) -> None:
    for run in runs:
        sync_client().set(cancel_key(run), "1", ex=HOUR_S)


def _ask_broker(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except (RedisError, OSError) as error:
        raise NotRestored(
            f"The broker at REDIS_URL does not answer ({error}). Start it: its data from after the backup must be "
            "deleted. Nothing was restored."
        ) from error


def rows_settle(report: Report) -> None:
    """Release the leases of owners that no longer exist."""
    live = leases_void()
    if live:
        report(f"Unfinished runs, which continue at the next start: {live}.")
