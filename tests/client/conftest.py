"""A real server for the client: uvicorn with Django's ASGI application, and a thread that drives runs and experiments.

The model is scripted: it plays the worked example, and adds one and one in experiments.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from django.core.asgi import get_asgi_application
from django.core.cache import cache
from django.db import connections
from lemmascope_client import Client
from pytest_django import Settings

from apps.accounts.models import ApiToken, User
from apps.experiments.advancing import conduct_once
from apps.explorations.worked_example import problem as worked_example
from apps.explorations.worked_example import script
from apps.problems.models import Problem
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import Pace, ScriptedBackend
from apps.reasoning.ports import Dispatcher
from apps.runs.journal.run_journal import JournalWriter, RunJournal
from apps.runs.live.tail import hub
from apps.runs.models import Run
from apps.runs.owners.execution import event_sinks, run_drive
from tests.cast import person
from tests.experiments.solving.playing import make_problem_set
from tests.grading.test_grade_command import MODELS
from tests.problems.factory import make_problem
from tests.reasoning.play import proof

ALIASES = ("served", "smollm2")
SUM = proof("We add.", "So it is.\nAnswer: 1")


class Server:
    """The server of one test at `url`. While `holds` is set, no run is driven."""

    def __init__(self) -> None:
        config = uvicorn.Config(get_asgi_application(), port=0, lifespan="off", log_level="warning")
        self.uvicorn = uvicorn.Server(config)
        self.sent: deque[int] = deque()
        self.holds, self._stops = threading.Event(), threading.Event()
        works: tuple[Callable[[], None], ...] = (lambda: asyncio.run(self._serve()), self._drive)
        self._threads = [threading.Thread(target=one, daemon=True) for one in works]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.uvicorn.servers[0].sockets[0].getsockname()[1]}"

    def delay(self, run: int) -> None:
        """Take the place of the task that drives a run."""
        self.sent.append(run)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        while not self.uvicorn.started:
            self._stops.wait(0.01)

    def stop(self) -> None:
        self.uvicorn.should_exit = self.uvicorn.force_exit = True
        self._stops.set()
        for thread in self._threads:
            thread.join(30)

    async def _serve(self) -> None:
        await self.uvicorn.serve()
        await hub().close()

    def _drive(self) -> None:
        writer = JournalWriter(sinks=event_sinks())
        while not self._stops.wait(0.02):
            if not self.holds.is_set():
                conduct_once()
                with contextlib.suppress(IndexError):
                    run_drive(self.sent.popleft(), dispatcher_for=_dispatcher, writer=writer)
        writer.close()
        connections.close_all()


@contextlib.asynccontextmanager
async def _dispatcher(run: Run, journal: RunJournal) -> AsyncIterator[Dispatcher]:
    texts = script()

    def answer(request: GenerationRequest) -> str:
        return texts.get(request.key, SUM)

    backend = ScriptedBackend(answer, pace=Pace(chunk_tokens=0, latency_s=0.05))
    yield LocalDispatcher(dict.fromkeys(ALIASES, backend))


@pytest.fixture
def server(
    valkey: object, transactional_db: None, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text("".join(MODELS.replace("served", name) for name in ALIASES))
    cache.clear()
    made = Server()
    monkeypatch.setattr("apps.runs.services.orchestrate", made)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def problem(transactional_db: None) -> Problem:
    """The problem of the worked example, and the set `sums@1` of two others."""
    make_problem_set(2)
    example = worked_example()
    return make_problem(example.title, statement=example.statement)


@pytest.fixture
def connect(server: Server, problem: Problem) -> Iterator[Callable[..., Client]]:
    """Make a client with a new token of a user."""
    with contextlib.ExitStack() as stack:

        def made(user: User | None = None, *, may_write: bool = True) -> Client:
            _, token = ApiToken.issue(user or person("alice"), "notebook", may_write=may_write)
            return stack.enter_context(Client(server.url, token))

        yield made
