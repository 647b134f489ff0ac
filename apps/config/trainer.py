"""The train worker: `celery -A apps.config.trainer worker -P threads -Q train`. Starts trainers and looks after them.

It imports no torch: a trainer is a process of its own, in an environment of its own (docs/training.md).
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

from apps.learning import warden  # noqa: E402
from apps.runs import pulse  # noqa: E402


@worker_ready.connect
def _start_warden(**_: Any) -> None:
    warden.start()
    pulse.start("trainer")


@worker_shutting_down.connect
def _let_trainers_save(**_: Any) -> None:
    """Celery waits for the threads that look after trainers; those ask them to save first."""
    warden.stop()


__all__ = ["app"]
