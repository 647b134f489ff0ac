"""Opens a new epoch: after a restore nothing may be left of the future that it undid, in the broker or in any process.

What the broker knows of runs can always be lost (docs/life_of_a_run.md), so it is deleted: marks of calls that were answered
after the backup, results that were recorded then, flags of runs that were cancelled then, streams of events whose numbers are
used again. That is safe once no process drives runs. Inference workers have no database and may go on: they are told to drop
their calls, and what they answer late arrives as a result together with its mark, as it always does.
"""

import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from redis.exceptions import RedisError

from apps.learning.tasks import TRAIN_QUEUE
from apps.operations.backups.databases import NotRestored
from apps.runs.leases import leases_void
from apps.runs.local import is_stack_up
from apps.runs.pulse import LIVES_MS, pulses
from apps.runs.streams import HOUR_S, cancel_key, heartbeats, runs_forget, sync_client

#: How long workers have to drop the calls of the lost future; what one still holds then is answered for nothing.
DROP_WITHIN_S = 10.0
Say = Callable[[str], None]
T = TypeVar("T")


def processes_stopped(say: Say) -> None:
    """Return when no web process, orchestrator or train worker has a heartbeat; one that just ended has its last for 8 s.

    Raises `NotRestored` where some go on, and where the broker does not answer. Our own broker runs with the whole stack.
    """
    if settings.OWN_REDIS:
        if is_stack_up():
            raise NotRestored(
                "Lemmascope still runs: its broker answers. Stop it, with Ctrl-C in `make up`. Nothing was restored."
            )
        return
    until, told = time.monotonic() + LIVES_MS / 1000 + 1, False
    while living := sorted(f"{pulse['kind']} {pulse['name']}" for pulse in _answered(lambda: pulses(sync_client()))):
        if time.monotonic() > until:
            raise NotRestored(
                f"These processes still run: {', '.join(living)}. Stop them, on every machine: they remember what the restored "
                "database does not hold. Inference workers may go on. Nothing was restored."
            )
        if not told:
            say(f"Waiting for the last heartbeat of {len(living)} processes …")
            told = True
        time.sleep(0.5)


def broker_forget(say: Say) -> None:
    """Delete what the broker knows of runs, after workers have dropped the calls they hold. Raises `NotRestored`."""
    if settings.OWN_REDIS:
        shutil.rmtree(Path(settings.DATA_DIR) / "valkey", ignore_errors=True)
        return
    until = time.monotonic() + DROP_WITHIN_S
    while runs := _answered(_runs_held):
        _answered(partial(_cancel, runs))
        if time.monotonic() > until:
            say(f"Inference workers still hold calls of {len(runs)} runs; they are answered for nothing.")
            break
        time.sleep(0.5)
    queues = (settings.CELERY_TASK_DEFAULT_QUEUE, TRAIN_QUEUE)
    deleted = _answered(lambda: runs_forget(sync_client(), queues))
    say(f"The broker has forgotten what it knew of runs ({deleted} keys).")


def _runs_held() -> set[str]:
    return {call["run"] for beat in heartbeats(sync_client()) for call in beat["active"]}


def _cancel(runs: set[str]) -> None:
    for run in runs:
        sync_client().set(cancel_key(run), "1", ex=HOUR_S)


def _answered(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except (RedisError, OSError) as error:
        raise NotRestored(
            f"The broker at REDIS_URL does not answer ({error}). Start it: what it knows of the time after the backup must be "
            "deleted. Nothing was restored."
        ) from error


def rows_settle(say: Say) -> None:
    """What the restored rows say of owners that are no more."""
    live = leases_void()
    if live:
        say(f"Runs under way, which go on at the next start: {live}.")
