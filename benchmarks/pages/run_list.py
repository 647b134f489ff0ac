"""The list of 10,000 runs: server time of its sorts, filters and pages, on SQLite and on a PostgreSQL server of its own.

Specifications are as long as real ones. One problem in ten is held back from the reader. Every request is a new query string.
"""

import multiprocessing
import random
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Figure, percentiles
from benchmarks.stage import set_up

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.runs.models import Run

Took = tuple[float, float]
"""Milliseconds of a request, and of the processor in this process; SQLite works in it, PostgreSQL does not."""
RUNS, QUICK_RUNS = 10_000, 500
PROBLEMS, OWNERS, TAGS, BATCH = 300, 20, 12, 500
MODELS = ("qwen3-8b", "smollm2", "gpt-oss-20b", "gemma3-12b", "deepseek-r1")
SCAFFOLDS = ("intern_s1_mo", "best_of_n", "majority_vote", "self_refine")
TARGET_MS = 300
WORDS = ("prime", "square", "triangle", "inequality", "graph", "sequence", "circle", "polynomial", "integer", "tangent")


def figures(quick: bool = False) -> list[Figure]:
    """Milliseconds of a request for each database; PostgreSQL only where its programs are installed."""
    from tests.flows.database import PostgresServer, server_programs

    runs = QUICK_RUNS if quick else RUNS
    found = _figures("SQLite", runs, _apart({}, runs))
    if server_programs() is not None:
        with PostgresServer() as server:
            found += _figures("PostgreSQL", runs, _apart({"DATABASE_URL": server.url, "EMBEDDED": "true"}, runs))
    return found


def _apart(env: dict[str, str], runs: int) -> dict[str, list[Took]]:
    """Measure in a process of its own, because settings are read once."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measured, env, runs).result()


def _figures(database: str, runs: int, times: dict[str, list[Took]]) -> list[Figure]:
    together = [one for kind in times.values() for one in kind]
    middle, slowest = percentiles([wall for wall, _ in together])
    return [
        Figure(f"{database}, {runs:,} runs, {len(together)} requests: p95", slowest, "ms", TARGET_MS, "at most"),
        Figure("… median", middle, "ms"),
        Figure("… processor time of the web process: p95", percentiles([cpu for _, cpu in together])[1], "ms"),
        *(Figure(f"… {kind}: p95", percentiles([wall for wall, _ in of])[1], "ms") for kind, of in times.items()),
    ]


def measured(env: dict[str, str], runs: int) -> dict[str, list[Took]]:
    """Fill a new database and open the list. Returns milliseconds by kind of request."""
    set_up(ALLOWED_HOSTS="testserver", **env)
    from django.test.utils import setup_test_environment

    setup_test_environment()
    reader = _filled(runs)
    list(_opened(reader, ["", "?q=prime", "?sort=tokens"]))  # Loads the URLs and templates of the whole project.
    return {kind: list(_opened(reader, addresses)) for kind, addresses in _addresses(runs).items()}


def _addresses(runs: int) -> dict[str, list[str]]:
    from apps.explorations.run_table.columns import COLUMNS
    from apps.explorations.run_table.filters import OUTCOMES

    pages = [f"?page={number}" for number in range(1, runs // 40, max(1, runs // 800))]
    sorts = [
        f"?sort={sign}{column.name}&page={page}" for column in COLUMNS for sign in ("", "-") for page in (1, 3, runs // 100)
    ]
    filters = [
        *(f"?outcome={name}" for name in OUTCOMES),
        *(f"?q={word}&sort={column.name}" for word, column in zip(WORDS, COLUMNS, strict=False)),
        *(f"?model={name}&sort=-tokens" for name in MODELS),
        *(f"?scaffold={name}&outcome=accepted" for name in SCAFFOLDS),
        *(f"?owner=owner-{number}&sort=-confidence" for number in range(OWNERS)),
        *(f"?tag=tag-{number}&sort=-lemmas" for number in range(TAGS)),
        *(f"?problem={word}&sort=duration" for word in WORDS),
        *(f"?since=2026-0{month}-01&until=2026-0{month + 1}-01" for month in range(1, 9)),
        *(f"?topic={topic}&q=show {word}&model={MODELS[0]}" for topic in "ACGN" for word in WORDS[:3]),
    ]
    return {"pages": pages, "sorts": sorts, "filters": filters}


def _opened(user: "User", addresses: list[str]) -> Iterator[Took]:
    from django.test import Client

    client = Client()
    client.force_login(user)
    for address in addresses:
        began, worked = time.perf_counter(), time.process_time()
        answer = client.get(f"/runs/{address}")
        took, used = time.perf_counter() - began, time.process_time() - worked
        if answer.status_code != 200 or b"<h1>" not in answer.content:
            raise SystemExit(f"/runs/{address} answered {answer.status_code}")
        yield took * 1000, used * 1000


def _filled(runs: int) -> "User":
    """Write the runs with owners, problems and tags. Returns a researcher who reads the list."""
    from apps.accounts.models import Role, User
    from apps.desk.models import Tag
    from apps.runs.models import Run

    rng = random.Random(1)
    owners = [User.objects.create(username=f"owner-{n}", role=Role.RESEARCHER) for n in range(OWNERS)]
    versions = _problems(rng, owners[0])
    for start in range(0, runs, BATCH):
        made = Run.objects.bulk_create(
            _run(rng, rng.choice(owners), rng.choice(versions)) for _ in range(min(BATCH, runs - start))
        )
        for run in made:
            Run.objects.filter(pk=run.pk).update(created_at=run.finished_at)
        tagged = [run for run in made if rng.random() < 0.2]
        Tag.objects.bulk_create(Tag(run=run, name=f"tag-{rng.randrange(TAGS)}", by=owners[0]) for run in tagged)
    _turns(rng)
    return owners[1]


def _problems(rng: random.Random, owner: "User") -> list[Any]:
    """Problems with statements of some hundred characters. A tenth of them belongs to an open contest of another coach."""
    from apps.problems.models import Problem, ProblemVersion

    topics = "ACGN"
    problems = Problem.objects.bulk_create(
        Problem(slug=f"bench-{n}", title=" ".join(rng.sample(WORDS, 3)), topic=topics[n % 4]) for n in range(PROBLEMS)
    )
    versions = ProblemVersion.objects.bulk_create(
        ProblemVersion(problem=one, number=1, statement="Show that " + " ".join(rng.choices(WORDS, k=70))) for one in problems
    )
    _contest(owner, problems[::10])
    return versions


def _contest(owner: "User", problems: list[Any]) -> None:
    from apps.contests.models import Contest, ContestState

    contest = Contest.objects.create(title="Held back", created_by=owner, state=ContestState.OPEN)
    for number, problem in enumerate(problems, 1):
        contest.problems.create(problem=problem, position=number, label=str(number), version=problem.versions.get())


def _run(rng: random.Random, owner: "User", version: Any) -> "Run":
    from django.utils import timezone

    from apps.runs.models import Run, RunStatus, aliases_text

    names, count = rng.sample(MODELS, rng.choice((1, 1, 2))), rng.choice((0, 0, rng.randrange(1, 300)))
    sampling = {"temperature": 0.7, "top_p": 0.95, "top_k": -1, "max_new_tokens": 16_384, "stop": [], "seed": None}
    roles = ("reasoner", "summarizer", "theorem_verifier", "writer", "process_verifier", "reviser")
    role = {"revision": "0123456789abcdef", "sampling": sampling, "deadline_s": 900.0, "tools": "text", "closing": "text"}
    spec = {"problem": {"statement": version.statement}, "roles": {one: {"alias": names[0], **role} for one in roles}}
    spec["prompt_hashes"] = {f"intern_s1_mo/{one}.md": f"{rng.getrandbits(256):x}" for one in roles}
    imported = rng.random() < 0.05
    return Run(
        title=version.problem.title, problem_version=version, owner=owner, scaffold=rng.choice(SCAFFOLDS), spec=spec,
        preset="imported" if imported else rng.choice(("quick", "thorough")), aliases=aliases_text(names),
        status=rng.choice((RunStatus.FINISHED,) * 8 + (RunStatus.FAILED, RunStatus.CANCELLED)),
        outcome={"accepted": rng.choice((True, False, None)), "proof": "", "reason": "Measured.", "ended_by": "exhausted"},
        seed=rng.randrange(2**31), rounds=rng.randrange(9), calls=rng.randrange(2_000), prompt_tokens=rng.randrange(10**6),
        completion_tokens=0 if imported else rng.randrange(10**6), money=rng.choice((None, rng.random())),
        lemmas_count=count, lemmas_held=rng.randrange(count + 1), confidence=rng.choice((None, rng.random())),
        active_seconds=rng.random() * 9_000, finished_at=timezone.now() - timedelta(minutes=rng.randrange(400_000)),
    )  # fmt: skip


def _turns(rng: random.Random) -> None:
    """Turns with tools of the newest runs, whose success rate the page shows."""
    from django.utils import timezone

    from apps.explorations.calls.tool_rates import MOST_RUNS, WITH_TOOLS
    from apps.reasoning.domain.event_base import Kind
    from apps.runs.models import Run, RunEvent

    newest = list(Run.objects.order_by("-pk")[:MOST_RUNS])
    Run.objects.filter(pk__in=[run.pk for run in newest]).update(scaffold=WITH_TOOLS[0])
    RunEvent.objects.bulk_create(
        (
            RunEvent(
                run=run, seq=seq, key=f"{seq}", kind=Kind.TURN_TAKEN, at=timezone.now(), body={"succeeded": rng.random() < 0.9}
            )
            for run in newest
            for seq in range(1, 21)
        ),
        batch_size=BATCH,
    )
