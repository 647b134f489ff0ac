"""An experiment on solving of 10,000 cells with simulated agents: CPU of a cell, and its pages."""

import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, percentiles

PROBLEMS, METHODS, REPEATS = 60, 12, 14
QUICK_PROBLEMS = 4
LOOKS = 20
#: Runs that are driven at a time, as in an orchestrator: their writes share transactions.
AT_ONCE = 16
#: A simulated agent plays this alias, without HTTP requests.
MODELS, ALIAS = Path(__file__).parents[1] / "grading.toml", "grader"


def figures(quick: bool = False) -> list[Figure]:
    """Play all cells in this process. What the simulated model takes for its one call a cell is not counted."""
    from benchmarks import stage

    stage.set_up(MODELS_FILE=str(MODELS), GRADING_AT_ONCE="64")
    experiment, owner = _experiment(QUICK_PROBLEMS if quick else PROBLEMS, METHODS, 2 if quick else REPEATS)
    conducting, driving = _play()
    cells = experiment.solving_cells.filter(state="finished").count()
    each = [1000 * seconds / cells for seconds in (conducting, driving)]
    return [
        Figure(f"CPU of a cell beyond its call, {cells:,} cells", sum(each), "ms", 15),
        Figure("… of it in the conductor", each[0], "ms"),
        Figure("… of it in its run with journal", each[1], "ms"),
        *_pages(experiment, owner),
    ]


def _experiment(problems: int, methods: int, repeats: int) -> tuple[Any, Any]:
    from apps.accounts.models import Role, User
    from apps.experiments.solving.manifest import manifest_of
    from apps.experiments.solving.services import solving_start
    from apps.problem_sets.importing import named_of
    from apps.problem_sets.services import set_create
    from apps.problems.models import Problem, ProblemVersion, Topic

    owner = User.objects.create_user("owner", "owner@example.org", "a fixed point theorem", role=Role.RESEARCHER)
    made = [
        Problem.objects.create(slug=f"sum-{number}", title=f"Sum {number}", topic=Topic.ALGEBRA) for number in range(problems)
    ]
    for number, problem in enumerate(made):
        ProblemVersion.objects.create(problem=problem, number=1, statement=f"Find the sum {number}.", answer=str(number))
    version = set_create(title="Sums", items=named_of(made), by=None)
    rows = [
        {"name": f"method {number}", "scaffold": "single_call", "max_new_tokens": 100 + number} for number in range(methods)
    ]
    manifest = {
        "title": "Many cells",
        "problems": {"set": str(version)},
        "methods": rows,
        "teams": [{"name": "one", "roles": {"": ALIAS}}],
        "repeats": repeats,
        "baseline": "method 0",
        "at_once": 64,
        "scorers": [{"name": "answer", "kind": "answer"}],
        "curves": True,
    }
    return solving_start(owner=owner, manifest=manifest_of(manifest)), owner


def _play() -> tuple[float, float]:
    """CPU seconds of the conductor, and of driving the runs without the model."""
    from apps.experiments.advancing import conduct_once
    from apps.runs import services
    from apps.runs.journal.run_journal import JournalWriter
    from apps.runs.owners.execution import event_sinks, run_drive

    sent: deque[int] = deque()
    setattr(services, "orchestrate", type("Sent", (), {"delay": staticmethod(sent.append)}))  # noqa: B010  (not exported)

    answering: list[float] = []
    simulated = _dispatcher_of(answering)
    conducting = driving = 0.0
    writer = JournalWriter(sinks=event_sinks())
    with ThreadPoolExecutor(AT_ONCE) as orchestrator:
        while True:
            began = time.process_time()
            started = conduct_once()
            between = time.process_time()
            conducting += between - began
            if not started and not sent:
                writer.close()
                return conducting, driving - sum(answering)
            runs = [sent.popleft() for _ in range(len(sent))]
            list(orchestrator.map(lambda run: run_drive(run, dispatcher_for=simulated, writer=writer), runs))
            driving += time.process_time() - between


def _dispatcher_of(answering: list[float]) -> Any:
    """A dispatcher for drives whose simulated model appends the CPU seconds of each answer to `answering`."""
    from apps.reasoning.domain.generation import Final, GenerationRequest
    from apps.reasoning.inference.local import LocalDispatcher
    from apps.reasoning.rehearsal.agent import SimulatedAgent
    from apps.reasoning.rehearsal.skills import Skills

    class Timed(SimulatedAgent):
        def answer(self, request: GenerationRequest) -> Final:
            began = time.thread_time()
            found = super().answer(request)
            answering.append(time.thread_time() - began)
            return found

    @contextlib.asynccontextmanager
    async def simulated(*_: Any) -> AsyncIterator[LocalDispatcher]:
        yield LocalDispatcher({ALIAS: Timed(Skills(), "single_call", "sums", "0")})

    return simulated


def _pages(experiment: Any, owner: Any) -> list[Figure]:
    """Server times of the pages, by Django's test client without middleware of the network."""
    from django.test import Client

    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(owner)
    found = []
    for title, path, target in (("table and map", "", 500.0), ("budgets", "budgets/", None), ("endings", "endings/", None)):
        taken = []
        for _ in range(LOOKS):
            began = time.perf_counter()
            assert client.get(f"/experiments/{experiment.public_id}/{path}").status_code == 200
            taken.append(1000 * (time.perf_counter() - began))
        found.append(Figure(f"page: {title}, p95", percentiles(taken)[-1], "ms", target))
    return found
