"""Two identical requests at the same instant: one thing happens, and both get its answer."""

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from django.core.exceptions import ValidationError
from django.db import connections

from apps.accounts.models import User
from apps.runs import services
from apps.runs.models import Run, RunCommand, RunStatus
from apps.runs.services import command_request, run_resume
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db(transaction=True)
T = TypeVar("T")


def at_once(work: Callable[[], T], times: int = 4) -> list[T]:
    """What `work` gives in several threads that start together, each with a connection of its own."""
    start = threading.Barrier(times)

    def one() -> T:
        try:
            start.wait(10)
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(times) as pool:
        return [future.result(30) for future in [pool.submit(one) for _ in range(times)]]


def test_a_command_sent_four_times_at_once_is_one_command(alice: User) -> None:
    run, command_id = make_run(), uuid.uuid4()
    asked = at_once(lambda: command_request(run=run, user=alice, command_id=command_id, name="pause").pk)
    assert len(set(asked)) == 1
    assert RunCommand.objects.count() == 1


def test_a_budget_is_extended_once_by_a_form_sent_four_times(alice: User) -> None:
    run, command_id = make_run(budget={"calls": 10}), uuid.uuid4()
    more = {"calls": 5}
    at_once(lambda: command_request(run=run, user=alice, command_id=command_id, name="extend_budget", args=more))
    assert Run.objects.get(pk=run.pk).budget["calls"] == 15


def test_who_looked_before_the_other_wrote_still_gets_the_others_answer(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    run, command_id = make_run(budget={"calls": 10}), uuid.uuid4()

    def ask() -> RunCommand:
        return command_request(run=run, user=alice, command_id=command_id, name="extend_budget", args={"calls": 5})

    first = ask()
    monkeypatch.setattr(services, "_known_command", lambda run, command_id: None)
    assert ask() == first
    assert Run.objects.get(pk=run.pk).budget["calls"] == 15


def test_a_failed_run_resumed_four_times_at_once_is_queued_once_and_no_request_is_refused(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(status=RunStatus.FAILED)
    sent: list[int] = []
    monkeypatch.setattr("apps.runs.services.orchestrate.delay", sent.append)
    at_once(lambda: run_resume(run=run, user=alice))
    assert Run.objects.get(pk=run.pk).status == RunStatus.QUEUED
    assert sent == [run.pk]


@pytest.mark.parametrize("status", [RunStatus.FINISHED, RunStatus.CANCELLED, RunStatus.PAUSED])
def test_what_has_ended_or_waits_is_not_resumed(alice: User, status: RunStatus) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(status=status)
    with pytest.raises(ValidationError, match="Only a failed run"):
        run_resume(run=run, user=alice)
