"""Fifty markers claim at once on a separate PostgreSQL server: 10,000 claims over five problems.

The main figures are counts: scripts claimed twice in their slot, and scripts not claimed. Two processes claim, with a thread
for each of their markers, as two web processes would. `contest.marking` measures the cost of claims on SQLite.
"""

import multiprocessing
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING

from benchmarks import stage
from benchmarks.figures import Figure, Skipped

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.contests.models import ContestProblem

MARKERS, PROCESSES = 50, 2
PROBLEMS, QUICK_PROBLEMS = 5, 1
SCRIPTS, QUICK_SCRIPTS = 2_000, 100


def figures(quick: bool = False) -> list[Figure]:
    """Counts over all problems, and claims per second. Raises `Skipped` without a server."""
    from tests.flows.database import PostgresServer, server_programs

    if server_programs() is None:
        raise Skipped("no PostgreSQL server is installed")
    problems, scripts = (QUICK_PROBLEMS, QUICK_SCRIPTS) if quick else (PROBLEMS, SCRIPTS)
    with PostgresServer() as server:
        stage.set_up(DATABASE_URL=server.url, DATABASE_POOL="5")
        with ProcessPoolExecutor(
            PROCESSES, multiprocessing.get_context("spawn"), initializer=_as_web_process, initargs=(server.url,)
        ) as web:
            list(web.map(time.sleep, [2.0] * PROCESSES))  # Both have started.
            found = [_claimed(scripts, web) for _ in range(problems)]
            list(web.map(_close, range(PROCESSES)))
        _close()
    claims, words = sum(one[0] for one in found), f"{problems * scripts:,} scripts, {MARKERS} markers at once"
    return [
        Figure(f"{words}: claimed twice", sum(one[1] for one in found), "", 0),
        Figure(f"{words}: not claimed", sum(one[2] for one in found), "", 0),
        Figure("claims", claims / sum(one[3] for one in found), "/s"),
    ]


def _as_web_process(url: str) -> None:
    """Set up a process with a connection for each of its markers, and import what claims."""
    stage.set_up(DATABASE_URL=url, DATABASE_POOL=str(MARKERS + 5))
    from apps.marks.workspace import claims  # noqa: F401


def _claimed(scripts: int, web: ProcessPoolExecutor) -> tuple[int, int, int, float]:
    """Let all markers claim the scripts of a problem. Returns claims, scripts claimed twice, scripts not claimed, seconds."""
    from apps.accounts.models import Role, User
    from apps.marks.models import MarkingTask
    from benchmarks.contest.marking import contest_made

    _, problem = contest_made(scripts, "Text {}.".format)
    people = [User.objects.get_or_create(username=f"marker-{n}", defaults={"role": Role.COACH})[0] for n in range(MARKERS)]
    wanted = set(MarkingTask.objects.filter(case__problem=problem).values_list("pk", flat=True))
    shares = [[user.pk for user in people[part::PROCESSES]] for part in range(PROCESSES)]
    began = time.perf_counter()
    count = Counter(key for keys in web.map(_by_markers, [problem.pk] * PROCESSES, shares) for key in keys)
    took = time.perf_counter() - began
    return count.total(), sum(times > 1 for times in count.values()), len(wanted - set(count)), took


def _by_markers(problem: int, users: list[int]) -> list[int]:
    """Let several markers of one process claim until none is left. Returns the keys of the tasks."""
    from apps.accounts.models import User
    from apps.contests.models import ContestProblem

    row = ContestProblem.objects.select_related("contest", "setup").get(pk=problem)
    people = list(User.objects.filter(pk__in=users))
    with ThreadPoolExecutor(len(people)) as pool:
        return [key for keys in pool.map(lambda user: _until_none(row, user), people) for key in keys]


def _until_none(problem: "ContestProblem", user: "User") -> list[int]:
    """Claim and finish tasks until none is left. Returns their keys."""
    from django.db import connections
    from django.utils import timezone

    from apps.marks.models import MarkingTask
    from apps.marks.workspace.claims import task_next

    keys = []
    try:
        while (task := task_next(problem, user)) is not None:
            keys.append(task.pk)
            MarkingTask.objects.filter(pk=task.pk).update(done_at=timezone.now())
    finally:
        connections.close_all()
    return keys


def _close(_number: int = 0) -> None:
    """Close the pool's connections before the server stops."""
    from django.db import connection

    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
