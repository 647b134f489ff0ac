"""The orchestrator process: `celery -A apps.config.orchestrator worker -P threads -Q runs`. Drives runs, recovers lost ones."""

from typing import Any

import django
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

from apps.config.celery import app
from apps.config.private import data_folder_close, umask_set

umask_set()
django.setup()
data_folder_close(settings.DATA_DIR)

# Not in the handlers below: Celery logs their errors and continues, and a process without a warden finds no lost run.
from apps.experiments import conductor  # noqa: E402
from apps.graders.suggestions.family import gradings_stop  # noqa: E402
from apps.marks.suggestions import watch as suggestion_watch  # noqa: E402
from apps.operations import history  # noqa: E402
from apps.processes import garbage, pulse  # noqa: E402
from apps.results import notices, proposing  # noqa: E402
from apps.runs.calls.sending import stop_calls  # noqa: E402
from apps.runs.owners import warden  # noqa: E402
from apps.runs.owners.execution import drives_stop  # noqa: E402
from apps.submissions import transcribing  # noqa: E402

#: A run of a contest's size has half a million small objects, none of them in a cycle. With Python's threshold of 700 the
#: garbage collector walks them repeatedly: a fifth of the time of a replay.
garbage.set_aside(threshold=100_000)


@worker_ready.connect
def _start_warden(**_: Any) -> None:
    warden.start()
    pulse.start("orchestrator")
    history.start()
    notices.start()
    suggestion_watch.start()
    proposing.start()
    transcribing.start(proposing.over_broker, stop_calls)
    conductor.start()


@worker_shutting_down.connect
def _give_runs_back(**_: Any) -> None:
    """Release all runs: Celery waits for the threads that drive them, and a run may take hours."""
    warden.stop()
    suggestion_watch.stop()
    conductor.stop()
    drives_stop()
    gradings_stop()


__all__ = ["app"]
