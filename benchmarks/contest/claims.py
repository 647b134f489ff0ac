"""Fifty markers claim at once on a separate PostgreSQL server: 10,000 claims over five problems.

The main figures are counts: scripts claimed twice in their slot, and scripts not claimed. `contest.marking` measures the
cost of claims on SQLite.
"""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from benchmarks import stage
from benchmarks.figures import Figure, Skipped

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.contests.models import ContestProblem

MARKERS = 50
PROBLEMS, QUICK_PROBLEMS = 5, 1
SCRIPTS, QUICK_SCRIPTS = 2_000, 100


def figures(quick: bool = False) -> list[Figure]:
    """Counts over all problems, and claims per second. Raises `Skipped` without a server."""
    from tests.flows.database import PostgresServer, server_programs

    if server_programs() is None:
        raise Skipped("no PostgreSQL server is installed")
    problems, scripts = (QUICK_PROBLEMS, QUICK_SCRIPTS) if quick else (PROBLEMS, SCRIPTS)
    with PostgresServer() as server:
        # A connection for each marker: they represent fifty requests in several web processes, each with its own pool.
        stage.set_up(DATABASE_URL=server.url, DATABASE_POOL=str(MARKERS + 5))
        found = [_claimed(scripts) for _ in range(problems)]
        _close()
    claims, words = sum(one[0] for one in found), f"{problems * scripts:,} scripts, {MARKERS} markers at once"
    return [
        Figure(f"{words}: claimed twice", sum(one[1] for one in found), "", 0),
        Figure(f"{words}: not claimed", sum(one[2] for one in found), "", 0),
        Figure("claims", claims / sum(one[3] for one in found), "/s"),
    ]


def _claimed(scripts: int) -> tuple[int, int, int, float]:
    """Let all markers claim the scripts of a problem. Returns claims, scripts claimed twice, scripts not claimed, seconds."""
    from apps.accounts.models import Role, User
    from apps.marks.models import MarkingTask
    from benchmarks.contest.marking import contest_made

    _, problem = contest_made(scripts, "Text {}.".format)
    people = [User.objects.get_or_create(username=f"marker-{n}", defaults={"role": Role.COACH})[0] for n in range(MARKERS)]
    wanted = set(MarkingTask.objects.filter(case__problem=problem).values_list("pk", flat=True))
    began = time.perf_counter()
    with ThreadPoolExecutor(MARKERS) as pool:
        count = Counter(key for keys in pool.map(lambda user: _until_none(problem, user), people) for key in keys)
    took = time.perf_counter() - began
    return count.total(), sum(times > 1 for times in count.values()), len(wanted - set(count)), took


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


def _close() -> None:
    """Close the pool's connections before the server stops."""
    from django.db import connection

    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
