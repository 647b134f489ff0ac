"""The orchestrator process: `celery -A apps.config.orchestrator worker -P threads -Q runs`. Drives runs, finds lost ones."""

from typing import Any

import django
from celery.signals import worker_ready

from apps.config.celery import app

django.setup()


@worker_ready.connect
def _start_warden(**_: Any) -> None:
    from apps.runs import warden

    warden.start()


__all__ = ["app"]
