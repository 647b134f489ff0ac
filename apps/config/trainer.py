"""The train worker: `celery -A apps.config.trainer worker -P threads -Q train`. Starts and watches trainers.

It does not import torch: a trainer is a separate process in its own environment (docs/training.md).
"""

from typing import Any

import django
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

from apps.config.celery import app
from apps.config.private import data_folder_close, umask_set

umask_set()
django.setup()
data_folder_close(settings.DATA_DIR)

from apps.learning.jobs import driving  # noqa: E402
from apps.learning.jobs.warden import poll  # noqa: E402
from apps.processes import pulse  # noqa: E402
from apps.processes.watcher import Watcher  # noqa: E402

JOBS = Watcher("training", 3.0)


@worker_ready.connect
def _start_watcher(**_: Any) -> None:
    pulse.start("trainer")
    JOBS.start(poll)


@worker_shutting_down.connect
def _let_trainers_save(**_: Any) -> None:
    """Start no further jobs and ask the trainers to save. Celery then waits for the threads that watch them."""
    JOBS.stop()
    driving.close()


__all__ = ["app"]
