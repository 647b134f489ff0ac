"""The orchestrator process: `celery -A apps.config.orchestrator worker -P threads -Q runs`. Drives runs, finds lost ones."""

import gc
from typing import Any

import django
from celery.signals import worker_ready, worker_shutting_down

from apps.config.celery import app

django.setup()

#: A run of a contest's size keeps half a million small objects, none of them in a cycle. With Python's threshold of 700 the
#: collector walks them again and again: a fifth of the time of a replay.
gc.set_threshold(100_000, 20, 20)


@worker_ready.connect
def _start_warden(**_: Any) -> None:
    from apps.operations import history
    from apps.results import notices
    from apps.runs import pulse, warden

    warden.start()
    pulse.start("orchestrator")
    history.start()
    notices.start()


@worker_shutting_down.connect
def _give_runs_back(**_: Any) -> None:
    """Celery would wait for the threads that drive runs, and a run may take hours."""
    from apps.runs import warden
    from apps.runs.execution import drives_stop

    warden.stop()
    drives_stop()


__all__ = ["app"]
