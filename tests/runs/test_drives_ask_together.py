"""What many drives of one process ask of the database and of the broker is asked once for those that ask together."""

import asyncio
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.processes import streams
from apps.processes.streams import heartbeat_publish
from apps.runs.calls import surroundings
from apps.runs.models import Run, RunCommand
from apps.runs.owners.leases import lease_take
from apps.runs.owners.together import PendingCommands, Renewals, _Renewal, _renewed
from tests.runs.factory import make_run

RUNS = 20


def taken(number: int) -> Run:
    found = lease_take(make_run().pk, f"elsewhere/1/{number}")
    assert found is not None
    return found


@pytest.mark.django_db
def test_leases_of_many_runs_are_renewed_in_one_write_and_a_moved_fence_is_found() -> None:
    runs = [taken(number) for number in range(RUNS)]
    Run.objects.filter(pk=runs[3].pk).update(fence=2)
    Run.objects.update(lease_until=None)
    loop = asyncio.new_event_loop()
    asked = [_Renewal(run, 5.0, loop, loop.create_future()) for run in runs]
    with CaptureQueriesContext(connection) as queries:
        windows = _renewed(asked)
    loop.close()
    assert sum(query["sql"].startswith("UPDATE") for query in queries) == 1
    assert [number for number, window in enumerate(windows) if window is None] == [3]
    assert set(Run.objects.filter(lease_until=None)) == {runs[3]}
    assert {run.active_seconds for run in Run.objects.exclude(pk=runs[3].pk)} == {5.0}


@pytest.mark.django_db
def test_a_drive_that_lost_its_run_learns_of_it_when_the_next_drive_asks_too() -> None:
    before = taken(0)
    Run.objects.update(lease_until=None)
    after = lease_take(before.pk, "elsewhere/1/1")
    assert after is not None
    assert (before.fence, after.fence) == (1, 2)
    loop = asyncio.new_event_loop()
    windows = _renewed([_Renewal(run, 5.0, loop, loop.create_future()) for run in (before, after)])
    loop.close()
    assert [window is None for window in windows] == [True, False]
    assert Run.objects.get().active_seconds == 5.0


@pytest.mark.django_db(transaction=True)
def test_each_run_gets_its_own_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [taken(number) for number in range(3)]
    Run.objects.filter(pk=runs[1].pk).update(fence=2)
    monkeypatch.setattr("apps.runs.owners.together.GATHER", 0.01)

    async def renewed() -> list[int | None]:
        together = Renewals()
        return await asyncio.gather(*(together.renew(run, 1.0) for run in runs))

    assert [window is None for window in asyncio.run(renewed())] == [False, True, False]


@pytest.mark.django_db(transaction=True)
def test_pending_commands_of_all_runs_are_read_together(alice: User) -> None:
    runs = [taken(number) for number in range(3)]
    RunCommand.objects.create(run=runs[2], command_id=uuid.uuid4(), name="pause", by=alice)
    together = PendingCommands()
    together.watched.update(run.pk for run in runs)

    async def read() -> list[bool]:
        return [await together.has(run.pk, 60.0) for run in runs]

    assert asyncio.run(read()) == [False, False, True]


async def test_one_look_serves_all_runs(valkey: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    active: list[Any] = [{"run": f"r{n}", "key": "call", "attempt": 1, "fingerprint": "f"} for n in range(RUNS)]
    heartbeat_publish(valkey, {"worker": "w", "aliases": ["a"], "active": active, "health": {}}, 60_000)
    read: list[int] = []
    looked = streams.heartbeats

    def counted(client: Any) -> Any:
        read.append(1)
        return looked(client)

    monkeypatch.setattr(streams, "heartbeats", counted)
    await surroundings.look(fresh=True)
    looks = await asyncio.gather(*(surroundings.look() for _ in range(RUNS)))
    assert len(read) == 1
    assert [set(look.calls_of(f"r{n}")) for n, look in enumerate(looks)] == [{("call", "f")}] * RUNS
    assert looks[0].aliases == {"a"}
