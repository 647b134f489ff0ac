"""The socket of a run on a contest script sends no names of the roster, and nothing before the script is settled."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.experiments.scripts import Chosen
from apps.experiments.services import ExperimentDraft, experiment_create
from apps.runs.live.tail import hub
from apps.runs.models import Run
from tests.experiments.driving import Stage
from tests.marks.factory import problem_to_mark
from tests.marks.sealing.test_calibration_and_remarks import settled
from tests.marks.test_marking_shows_no_name import SECRETS
from tests.sockets import RunSocket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
async def _hub_is_closed(settings: Settings) -> AsyncIterator[None]:
    settings.MARKING_GRADERS = []
    yield
    await hub().close()


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """A script of an author whose name must stay hidden."""
    problem = problem_to_mark(bob, dana, scripts=1, asks_place=False)
    problem.contest.identities.update(name="Zebulon Quartermaine", school="Gymnasium Hohenstein")
    return problem


@pytest.fixture
def run(problem: ContestProblem, bob: User, stage: Stage) -> Run:
    """The run that graded the script."""
    draft = ExperimentDraft("In a contest", Chosen(contest=problem.contest), ["single_turn"], ["served"])
    experiment = stage.play(experiment_create(owner=bob, draft=draft))
    found = experiment.cells.get().run
    assert found is not None
    found.refresh_from_db()
    return found


async def frames(run: Run, user: User) -> list[dict[str, Any]]:
    """All frames of an ended run, up to its last event or the close."""
    socket = RunSocket(run, user)
    await socket.connect()
    found: list[dict[str, Any]] = []
    while True:
        message = await socket.receive_output(10)  # type: ignore[no-untyped-call]
        if message["type"] == "websocket.close":
            found.append({"t": "close", "code": message["code"]})
            break
        found.append(json.loads(message["text"]))
        if any(event["seq"] == run.last_seq for event in found[-1].get("events", ())):
            break
    await socket.disconnect()
    return found


async def test_no_frame_contains_a_name(valkey: object, run: Run, problem: ContestProblem, bob: User) -> None:
    await database_sync_to_async(settled)(problem, bob)
    found = await frames(run, bob)
    assert any(frame["t"] == "events" for frame in found), "the events are sent"
    text = json.dumps(found, ensure_ascii=False).casefold()
    assert not [word for word in SECRETS if word.casefold() in text]


async def test_the_socket_closes_before_the_script_is_settled(valkey: object, run: Run, bob: User, dana: User) -> None:
    for person in (bob, dana):
        assert await frames(run, person) == [{"t": "close", "code": 4404}]
