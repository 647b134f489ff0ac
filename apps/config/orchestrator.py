"""The orchestrator process: `celery -A apps.config.orchestrator worker -P threads -Q runs`. Drives runs, finds lost ones."""

from typing import Any

import django
from celery.signals import worker_ready, worker_shutting_down

from apps.config.celery import app

django.setup()


@worker_ready.connect
def _start_warden(**_: Any) -> None:
    from apps.operations import history
    from apps.runs import pulse, warden

    warden.start()
    pulse.start("orchestrator")
    history.start()


@worker_shutting_down.connect
def _give_runs_back(**_: Any) -> None:
    """Celery would wait for the threads that drive runs, and a run may take hours."""
    from apps.runs import warden
    from apps.runs.execution import drives_stop

    warden.stop()
    drives_stop()


__all__ = ["app"]
