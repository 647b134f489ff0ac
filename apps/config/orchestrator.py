"""The orchestrator process: `celery -A apps.config.orchestrator worker -P threads -Q runs`. Drives runs, recovers lost ones."""

from collections.abc import Callable
from functools import partial
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
from apps.experiments.advancing import conduct  # noqa: E402
from apps.experiments.conductor import CONDUCTOR  # noqa: E402
from apps.experiments.solving.rehearsal.background import rehearsals_work  # noqa: E402
from apps.graders.suggestions.family import gradings_stop  # noqa: E402
from apps.lemmas.later.checking import later_checks_work  # noqa: E402
from apps.lemmas.readings.work import readings_work  # noqa: E402
from apps.marks.suggestions.suggesting import suggestions_resend  # noqa: E402
from apps.operations import history  # noqa: E402
from apps.practice.helping.requests import requests_work  # noqa: E402
from apps.problems.geometry_drafts import drafts_work  # noqa: E402
from apps.processes import garbage, pulse  # noqa: E402
from apps.processes.watcher import Watcher  # noqa: E402
from apps.results.notices import notices_send  # noqa: E402
from apps.results.proposing import proposals_work  # noqa: E402
from apps.runs.calls.outside import over_broker  # noqa: E402
from apps.runs.calls.sending import stop_calls  # noqa: E402
from apps.runs.owners.execution import drives_stop  # noqa: E402
from apps.runs.owners.warden import watch_once  # noqa: E402
from apps.scanning.reading.working import scans_work  # noqa: E402
from apps.submissions.transcribing import pages_work  # noqa: E402

#: A run of a contest's size has half a million small objects, none of them in a cycle. With Python's threshold of 700 the
#: garbage collector walks them repeatedly: a fifth of the time of a replay.
garbage.set_aside(threshold=100_000)

#: The work that this process repeats, each in its own thread, with the seconds between two rounds.
WATCHERS: dict[Watcher, Callable[[], object]] = {
    Watcher("run-warden", 1.0): watch_once,
    Watcher("history", history.EVERY_S / 2, waits_first=True): history.sample,
    Watcher("notices", 30.0): notices_send,
    Watcher("suggestions", 30.0, waits_first=True): suggestions_resend,
    Watcher("hints", 2.0): proposals_work,
    Watcher("remarks", 2.0): requests_work,
    Watcher("pages", 2.0): partial(pages_work, over_broker, stop_calls),
    Watcher("geometry-drafts", 2.0): partial(drafts_work, over_broker, stop_calls),
    CONDUCTOR: conduct,
    Watcher("rehearsals", 2.0): rehearsals_work,
    Watcher("scans", 1.0): scans_work,
    Watcher("model-readings", 2.0): readings_work,
    Watcher("imported-checks", 5.0): later_checks_work,
}


@worker_ready.connect
def _start_watchers(**_: Any) -> None:
    pulse.start("orchestrator")
    for watcher, work in WATCHERS.items():
        watcher.start(work)


@worker_shutting_down.connect
def _give_runs_back(**_: Any) -> None:
    """Release all runs: Celery waits for the threads that drive them, and a run may take hours."""
    for watcher in WATCHERS:
        watcher.stop()
    drives_stop()
    gradings_stop()


__all__ = ["app"]
