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

from apps.learning.jobs import warden  # noqa: E402
from apps.processes import pulse  # noqa: E402


@worker_ready.connect
def _start_warden(**_: Any) -> None:
    warden.start()
    pulse.start("trainer")


@worker_shutting_down.connect
def _let_trainers_save(**_: Any) -> None:
    """Stop the warden. Celery then waits for the threads that watch trainers, which first let them save."""
    warden.stop()


__all__ = ["app"]
