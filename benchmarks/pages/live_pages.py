"""Pages of a run while lemmas arrive: 10,000 requests, none of which may fail.

A journal writer commits about 50 lemmas a second, each with a use and a verdict, every fifth with a merge, in runs of `LEMMAS`
lemmas. Three readers request the pages of the growing run.
"""

import asyncio
import random
import threading
import time
from collections import Counter
from itertools import count
from typing import Any

from benchmarks.figures import Figure, percentiles

REQUESTS, QUICK_REQUESTS = 10_000, 500
READERS = 3
LEMMAS = 24
EVERY_S = 0.02
PAGES = (
    "graph/outline/",
    "graph.json",
    "graph/outline/",
    "graph.json?after=20",
    "",
    "graph/outline/",
    "panel/?node=s0.7",
    "graph/",
)


def figures(quick: bool = False) -> list[Figure]:
    """Requests, lemmas that arrived meanwhile, failed requests, and times of the requests."""
    from benchmarks import stage

    stage.set_up()
    growing = _Growing()
    writer = threading.Thread(target=growing.grow, daemon=True)
    writer.start()
    growing.is_there.wait()
    numbers, answers, seconds = count(), Counter[int](), list[float]()
    readers = [
        threading.Thread(target=_read, args=(growing, numbers, QUICK_REQUESTS if quick else REQUESTS, answers, seconds))
        for _ in range(READERS)
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    growing.is_over = True
    writer.join()
    middle, high = percentiles(seconds)
    return [
        Figure("requests", sum(answers.values())),
        Figure("lemmas that arrived meanwhile", growing.arrived),
        Figure("requests that failed", sum(number for status, number in answers.items() if status != 200), "", 0, "at most"),
        Figure("a request, median", 1000 * middle, "ms"),
        Figure("a request, 95th percentile", 1000 * high, "ms"),
    ]


def _read(growing: "_Growing", numbers: "count[int]", most: int, answers: Counter[int], seconds: list[float]) -> None:
    from django.db import connection
    from django.test import Client

    client = Client(raise_request_exception=False, SERVER_NAME="localhost")
    client.force_login(growing.reader)
    while (number := next(numbers)) < most:
        path = PAGES[number % len(PAGES)]
        began = time.perf_counter()
        headers = {"HX-Request": "true"} if path.startswith("panel") else {}
        answers[client.get(f"/runs/{growing.run}/{path}", headers=headers).status_code] += 1
        seconds.append(time.perf_counter() - began)
    connection.close()


class _Growing:
    """Runs that grow one after the other. `run` is the public id of the growing one."""

    def __init__(self) -> None:
        from apps.accounts.models import Role, User

        self.reader = User.objects.create(username="reader", role=Role.RESEARCHER)
        self.run = ""
        self.arrived = 0
        self.is_over = False
        self.is_there = threading.Event()

    def grow(self) -> None:
        from django.db import connection

        from apps.runs.journal.run_journal import JournalWriter
        from apps.runs.owners.execution import event_sinks

        writer = JournalWriter(sinks=event_sinks())
        while not self.is_over:
            asyncio.run(self._one_run(writer))
        writer.close()
        connection.close()

    async def _one_run(self, writer: Any) -> None:
        journal = await asyncio.to_thread(_a_journal, writer)
        self.run = journal.public_id
        self.is_there.set()
        rng = random.Random(1)
        for number in range(1, LEMMAS + 1):
            for key, event in _lemma(number, rng):
                journal.emit(key, event)
            await journal.flush()
            self.arrived += 1
            await asyncio.sleep(EVERY_S)
            if self.is_over:
                return


def _a_journal(writer: Any) -> Any:
    from django.db import connection

    from apps.runs.journal.run_journal import RunJournal
    from apps.runs.owners.leases import lease_take
    from benchmarks import stage

    owned = lease_take(stage.a_run().pk, "benchmark/0/x")
    if owned is None:
        raise SystemExit("the benchmark run could not be taken")
    journal = RunJournal(owned, writer)
    connection.close()
    return journal


def _lemma(number: int, rng: random.Random) -> list[tuple[str, Any]]:
    """Events of a lemma that uses an earlier one: the lemma, its verdict, and for every fifth a merge into an earlier one."""
    from apps.reasoning.domain import events as ev

    name, round_ = f"s0.{number}", 1 + number // 8
    statement = f"For every integer $n > {number}$ we have $n^2 > {number * number}$."
    found: list[tuple[str, Any]] = [
        (
            f"lemma/{name}",
            ev.LemmaProposed(lemma=name, number=number, rollout=0, round=round_, statement=statement, steps=("x",)),
        )
    ]
    if number > 1:
        used = f"s0.{rng.randrange(1, number)}"
        anchor = ev.TextAnchor(where="step 1", start=0, end=1, quote="x")
        found.append((f"edge/{name}/{used}", ev.EdgeAdded(user=name, used=used, evidence=anchor)))
    verdict = ev.VerdictReached(subject=name, passes=4, valid=4, total=4, confidence=1.0, low=0.5, high=1.0, status="verified")
    found.append((f"verdict/{name}", verdict))
    if number % 5 == 0:
        into = f"s0.{rng.randrange(1, number)}"
        found.append((f"merge/{name}", ev.LemmaMerged(lemma=name, into=into, reason="equal")))
    return found
