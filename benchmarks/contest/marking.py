"""Marking: seal → next script, prefetched and cold; lists with 10,000 scripts; 2,000 claims by ten markers.

`contest.claims` measures 10,000 claims by fifty markers on PostgreSQL; `marking_browser` measures the browser's part.
"""

import json
import statistics
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks import stage
from benchmarks.figures import Figure
from benchmarks.processes import Processes

if TYPE_CHECKING:
    from django.test import Client

    from apps.accounts.models import User
    from apps.contests.models import ContestProblem

SCRIPTS, QUICK_SCRIPTS = 10_000, 500
SEALS, QUICK_SEALS = 60, 10
MARKERS = 10
#: A claim sorts all open tasks inside SQLite's only write transaction. With 10,000 tasks and ten markers without pauses, one
#: marker waited longer than SQLite's limit of 20 s.
CLAIMS, QUICK_CLAIMS = 2_000, 100
PARAGRAPH = "Suppose $p = a^2 + b^2$ with $a, b \\in \\mathbb{Z}$. Then $$p \\equiv a^2 + b^2 \\pmod 4.$$ Hence $p \\ne 3$.\n\n"
TEXT_LENGTH = 20_000
#: As many formulas, all different, so that no cache of typeset formulas helps.
VARIED = (
    "Suppose $p_{{{n}}} = a^2 + b_{{{n}}}^2$ with $a, b \\in \\mathbb{{Z}}$. Then "
    "$$p_{{{n}}} \\equiv a^2 + b_{{{n}}}^2 \\pmod 4.$$ Hence $p \\ne {n}$.\n\n"
)


def figures(quick: bool = False) -> list[Figure]:
    """Server times of the pages through Django's test client, on SQLite; claims on threads."""
    folder = stage.set_up(ALLOWED_HOSTS="testserver")
    scripts, seals, claims = (QUICK_SCRIPTS, QUICK_SEALS, QUICK_CLAIMS) if quick else (SCRIPTS, SEALS, CLAIMS)
    with Processes("valkey", folder=folder):  # Sealing enqueues a task for graders.
        coach, problem = contest_made(scripts)
        steps_of_the_next(coach, problem, seals + 2)
        client = _client(coach)
        lists = [_timed(client, f"/marking/problem/{problem.public_id}/scripts/?page={page}") for page in (1, 2, 50, 100) * 5]
        homes = [_timed(client, "/marking/") for _ in range(10)]
        cold, ahead = _seal_and_next(client, problem, seals)
        rate = _claims(scripts, claims)
    words = f"{scripts:,} scripts"
    return [
        Figure(f"list with {words}, p95", _p95(lists), "ms", 500),
        Figure(f"what is to be marked, {words}, p95", _p95(homes), "ms", 500),
        Figure(f"seal → next of {TEXT_LENGTH // 1000} kB, cold, {words}, p95", _p95(cold), "ms", 1200),
        Figure(f"seal → next, fetched ahead, {words}, p95", _p95(ahead), "ms", 300),
        Figure(f"{claims:,} claims by {MARKERS} markers: claimed twice", 0, "", 0),
        Figure("claims", rate, "/s"),
    ]


def same_text(_number: int) -> str:
    """The same text for every script."""
    return PARAGRAPH * (TEXT_LENGTH // len(PARAGRAPH))


def varied_text(number: int) -> str:
    """A text of the same length, different for each script."""
    first = VARIED.format(n=1000 * number)
    return "".join(VARIED.format(n=1000 * number + line) for line in range(TEXT_LENGTH // len(first)))


def contest_made(scripts: int, text_of: Callable[[int], str] = same_text) -> "tuple[User, ContestProblem]":
    """A contest in marking, with `scripts` long scripts."""
    from apps.accounts.models import Role, User
    from apps.contests.models import Contest, ContestProblem, ContestState, Paper
    from apps.contests.services import Settings, contest_create, problem_add
    from apps.marks.setups import Choices, cases_prepare, setup_save
    from apps.problems.models import Problem, ProblemVersion, Topic
    from apps.reasoning.marking.schemes.text_form import text_read
    from apps.reasoning.texts.segmentation import SEGMENTER, digest_of
    from apps.schemes.services import scheme_activate, scheme_create
    from apps.submissions.models import Origin, Submission, SubmissionVersion, TextFormat

    coach, _ = User.objects.get_or_create(username="coach", defaults={"role": Role.COACH})
    problem = Problem.objects.create(slug=f"bench-{uuid.uuid4()}", title="Two squares", topic=Topic.NUMBER_THEORY)
    ProblemVersion.objects.create(problem=problem, number=1, statement="Which primes are sums of two squares?")
    items = "checkpoint A1, 3 points: One.\ncheckpoint A2, 4 points: Two."
    scheme = scheme_create(problem=problem, title="Scheme", content=text_read(items), by=coach)
    scheme_activate(scheme=scheme, by=coach, based_on=scheme.row_version)
    contest = contest_create(settings=Settings(title="Benchmark"), by=coach)
    row = problem_add(contest=contest, problem=problem)
    Contest.objects.filter(pk=contest.pk).update(state=ContestState.MARKING)
    papers = Paper.objects.bulk_create(Paper(contest=contest, number=f"{number:06}") for number in range(scripts))
    submissions = Submission.objects.bulk_create(Submission(paper=paper, problem=row) for paper in papers)
    common = {"number": 1, "format": TextFormat.MARKDOWN, "origin": Origin.IMPORTED, "segmenter": SEGMENTER}
    texts = ((one, text_of(number)) for number, one in enumerate(submissions))
    SubmissionVersion.objects.bulk_create(
        (SubmissionVersion(submission=one, raw=text, source=text, digest=digest_of(text), **common) for one, text in texts), 500
    )
    row = ContestProblem.objects.select_related("contest").get(pk=row.pk)
    setup_save(problem=row, choices=Choices(scheme=scheme), by=coach)
    cases_prepare(row)
    return coach, ContestProblem.objects.select_related("contest", "setup").get(pk=row.pk)


def steps_of_the_next(coach: "User", problem: "ContestProblem", count: int) -> None:
    """Create the steps of the next `count` scripts of the coach. Those of all scripts would take longer than measuring."""
    from apps.marks.models import MarkingCase
    from apps.marks.workspace.free import order_of
    from apps.reasoning.texts.segmentation import segment
    from apps.submissions.models import Step

    rows = MarkingCase.objects.filter(problem=problem)
    first = list(islice(order_of(problem.setup, coach, rows.values_list("pk", flat=True)), count))
    Step.objects.bulk_create(
        Step(version_id=case.version_id, number=one.number, start=one.start, end=one.end, kind=one.kind, digest=one.digest)
        for case in rows.filter(pk__in=first).select_related("version")
        for one in segment(case.version.source)
    )


def _client(user: "User") -> "Client":
    from django.test import Client

    client = Client()
    client.force_login(user)
    return client


def _timed(client: "Client", url: str) -> float:
    """Milliseconds of a page request."""
    began = time.perf_counter()
    if client.get(url).status_code not in (200, 204):
        raise SystemExit(f"{url} does not answer")
    return 1000 * (time.perf_counter() - began)


def _seal_and_next(client: "Client", problem: "ContestProblem", seals: int) -> tuple[list[float], list[float]]:
    """Milliseconds from sending the seal to the next page: cold, and with the next script prefetched."""
    from apps.ui import markdown

    page: Any = client.post(f"/marking/problem/{problem.public_id}/next").headers["Location"]
    client.get(page)
    cold: list[float] = []
    ahead: list[float] = []
    for number in range(seals):
        is_ahead = number % 2 == 1
        body = {"id": str(uuid.uuid4()), "verb": "claim", "args": {"line": "A1 A2"}, "row_version": 0}
        client.post(f"{page}command", json.dumps(body), content_type="application/json")
        markdown._cached_html.cache_clear()  # All scripts have the same text here; real ones are not cached.
        if is_ahead:
            client.get(f"{page}next-up")
        began = time.perf_counter()
        done = client.post(f"{page}seal", json.dumps({"row_version": 1}), content_type="application/json").json()
        page = done["next"]
        if not is_ahead:
            client.get(page)
        (ahead if is_ahead else cold).append(1000 * (time.perf_counter() - began))
    return cold, ahead


def _claims(scripts: int, claims: int) -> float:
    """Claims a second by ten simultaneous markers. Exits if a script is claimed twice."""
    from django.db import connections
    from django.utils import timezone

    from apps.accounts.models import Role, User
    from apps.marks.models import MarkingTask
    from apps.marks.workspace.claims import task_next

    _, problem = contest_made(min(scripts, claims))
    people = [User.objects.create(username=f"marker-{number}", role=Role.COACH) for number in range(MARKERS)]

    def claim(user: "User") -> list[int]:
        keys = []
        while (task := task_next(problem, user)) is not None:
            keys.append(task.pk)
            MarkingTask.objects.filter(pk=task.pk).update(done_at=timezone.now())
            connections.close_all()
        connections.close_all()
        return keys

    began = time.perf_counter()
    with ThreadPoolExecutor(MARKERS) as pool:
        keys = [key for part in pool.map(claim, people) for key in part]
    took = time.perf_counter() - began
    if len(keys) != len(set(keys)) or len(keys) != min(scripts, claims):
        raise SystemExit(f"{len(keys)} claims of {len(set(keys))} scripts")
    return len(keys) / took


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1]
