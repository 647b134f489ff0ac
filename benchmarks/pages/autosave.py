"""500 students are writing: the time until a draft is saved, on SQLite and on a PostgreSQL server of its own.

Each student practises a problem in a session of their own and types without a pause for 60 s. static/js/draft.js saves 10 s
after the last answer, or 50 times the time of that answer, if this is longer. The text grows from 2 to 3 kB. A first draft is
stored before; it takes three times as long. The client runs on the same machine; previews, which the editor also asks for, are
left out.
"""

import asyncio
import multiprocessing
import random
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from benchmarks.figures import Figure, percentiles

STUDENTS, QUICK_STUDENTS = 500, 20
SECONDS, QUICK_SECONDS = 60.0, 6.0
#: Seconds between an answer and the next save, as in draft.js, and the pause after the last key.
REST_S, LONGEST_REST_S, TIMES_ANSWER, PAUSE_S = 10.0, 60.0, 50, 0.8
TARGET_MS = 300
SENTENCE = "Let $n = 2k + 1$ be odd; then $n^2 - 1 = 4k(k + 1)$, and one of $k$ and $k + 1$ is even. "
LEAST = 24
#: What is sent of a student: session, CSRF token and the address of the draft.
TOKEN = "a" * 32


@dataclass
class Student:
    """One browser: what it sends, and what it has heard."""

    path: str
    session: str
    text: str
    row_version: int = 0
    took_ms: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)


def figures(quick: bool = False) -> list[Figure]:
    """Milliseconds of a save for each database; PostgreSQL only where its programs are installed."""
    from tests.flows.database import PostgresServer, server_programs

    students, seconds = (QUICK_STUDENTS, QUICK_SECONDS) if quick else (STUDENTS, SECONDS)
    found = _figures("SQLite", students, _apart({}, students, seconds))
    if server_programs() is not None:
        with PostgresServer() as server:
            env = {"DATABASE_URL": server.url, "EMBEDDED": "true"}
            found += _figures("PostgreSQL", students, _apart(env, students, seconds))
    return found


def _apart(env: dict[str, str], students: int, seconds: float) -> dict[str, Any]:
    """Measure in a process of its own, because settings are read once."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measured, env, students, seconds).result()


def _figures(database: str, students: int, found: dict[str, Any]) -> list[Figure]:
    middle, high = percentiles(found["took_ms"])
    return [
        Figure(f"{database}, {students} students write: a save, p95", high, "ms", TARGET_MS, "at most"),
        Figure("… median", middle, "ms"),
        Figure("… slowest", max(found["took_ms"]), "ms"),
        Figure("… saves", len(found["took_ms"])),
        Figure("… answers other than 200", found["refused"], "", 0, "at most"),
        Figure("… last texts that are not stored", found["lost"], "", 0, "at most"),
        Figure("… processor time of the web process per save", found["web_ms"], "ms"),
    ]


def measured(env: dict[str, str], count: int, seconds: float) -> dict[str, Any]:
    """Fill a new database, start the web process and let the students write."""
    from benchmarks import stage

    folder = stage.set_up(**env)
    students = _students(count)
    from benchmarks.processes import Processes

    with Processes("valkey", "web", folder=folder) as running:
        asyncio.run(_save_once(students[0]))  # Loads the URLs and forms of the whole project.
        students[0].took_ms.clear()
        before = running.cpu_s()["web"]
        asyncio.run(_all_write(students, seconds))
        worked_s = running.cpu_s()["web"] - before
    took_ms = [one for student in students for one in student.took_ms]
    return {
        "took_ms": took_ms,
        "refused": sum(number for student in students for status, number in student.statuses.items() if status != 200),
        "lost": _lost(students),
        "web_ms": 1000 * worked_s / len(took_ms),
    }


def _students(count: int) -> list[Student]:
    """Students who try one problem, each with a session."""
    from django.test import Client
    from django.urls import reverse

    from apps.accounts.models import Role, User
    from apps.practice.attempts import problem_try
    from apps.submissions.models import Submission
    from tests.problems.factory import make_problem

    problem, found = make_problem(), []
    for number in range(count):
        person = User.objects.create(username=f"student-{number}", role=Role.STUDENT)
        client = Client()
        client.force_login(person)
        tried = problem_try(person=person, problem=problem)
        Submission.objects.create(paper=tried.contest.papers.get(), problem=tried)  # They are in the midst of writing.
        path = reverse("submissions:draft", args=[tried.public_id])
        found.append(Student(path, client.cookies["sessionid"].value, f"By student {number}. " + SENTENCE * LEAST))
    return found


async def _all_write(students: list[Student], seconds: float) -> None:
    until = time.monotonic() + seconds
    await asyncio.gather(*(_write(student, random.Random(number), until) for number, student in enumerate(students)))


async def _write(student: Student, rng: random.Random, until: float) -> None:
    await asyncio.sleep(rng.uniform(0, min(REST_S, until - time.monotonic())))
    connection = await _connected()
    while time.monotonic() < until:
        student.text += SENTENCE * rng.choice((1, 2, 3))
        began = time.perf_counter()
        await _save(student, *connection)
        took_s = time.perf_counter() - began
        student.took_ms.append(1000 * took_s)
        rest_s = min(LONGEST_REST_S, max(REST_S, TIMES_ANSWER * took_s)) + rng.uniform(0, PAUSE_S)
        await asyncio.sleep(min(rest_s, max(0.0, until - time.monotonic())))
    connection[1].close()


async def _save_once(student: Student) -> None:
    reader, writer = await _connected()
    await _save(student, reader, writer)
    writer.close()


async def _connected() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    from django.conf import settings

    return await asyncio.open_connection("127.0.0.1", settings.PORT)


async def _save(student: Student, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One request over the open connection. A complete HTTP client would use more of the processor than the server does."""
    import json

    body = _body(student)
    head = (
        f"POST {student.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nContent-Length: {len(body)}\r\n"
        f"Content-Type: multipart/form-data; boundary={TOKEN}\r\nCookie: sessionid={student.session}; csrftoken={TOKEN}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    status, *headers = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
    length = next(int(line.partition(":")[2]) for line in headers if line.lower().startswith("content-length:"))
    answer = await reader.readexactly(length)
    student.statuses[int(status.split()[1])] += 1
    if status.split()[1] == "200":
        student.row_version = json.loads(answer)["row_version"]


def _body(student: Student) -> bytes:
    fields = {
        "csrfmiddlewaretoken": TOKEN,
        "text": student.text,
        "text_format": "markdown",
        "based_on": student.row_version,
    }
    parts = (f'--{TOKEN}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
    return ("".join(parts) + f"--{TOKEN}--\r\n").encode()


def _lost(students: list[Student]) -> int:
    """How many students' last texts are not in the database."""
    from apps.submissions.models import Submission

    return len({student.text for student in students} - set(Submission.objects.values_list("draft", flat=True)))
