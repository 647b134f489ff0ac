"""Leases: one owner at a time, a fence that grows, and take-over from an owner that is gone."""

import os
import socket
import subprocess
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.runs.models import Run, RunCommand, RunStatus
from apps.runs.owners.leases import (
    lease_mark_dispatched,
    lease_release,
    lease_take,
    leases_renew,
    owner_name,
    run_close,
    runs_without_owner,
)
from tests.runs.factory import make_run, take

pytestmark = pytest.mark.django_db


def test_the_second_owner_gets_nothing_while_the_first_holds_the_lease() -> None:
    run = take(make_run())
    assert run.fence == 1
    assert lease_take(run.pk, "elsewhere/2/test") is None
    assert leases_renew([run.pk], fence=1)


def test_an_expired_lease_is_taken_over_and_the_old_owner_finds_its_fence_moved() -> None:
    run = take(make_run())
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert runs_without_owner() == [run.pk]
    again = lease_take(run.pk, "elsewhere/2/test")
    assert again is not None
    assert again.fence == 2
    assert not leases_renew([run.pk], fence=1)
    assert not run_close(run.pk, 1, RunStatus.FINISHED)
    lease_release(run.pk, fence=1)
    assert Run.objects.get(pk=run.pk).lease_owner == "elsewhere/2/test"


def test_a_dead_process_of_this_machine_loses_its_lease_at_once() -> None:
    run = make_run()
    gone = subprocess.Popen(["true"])
    gone.wait()
    take(run, f"{socket.gethostname()}/{gone.pid}/x")
    assert runs_without_owner() == [run.pk]
    assert lease_take(run.pk, owner_name()) is not None


def test_a_living_process_of_this_machine_keeps_its_lease() -> None:
    mine = take(make_run(), owner_name())
    other = take(make_run(), f"{socket.gethostname()}/{os.getppid()}/x")
    assert runs_without_owner() == []
    assert lease_take(mine.pk, owner_name()) is None
    assert lease_take(other.pk, owner_name()) is None


def test_a_process_that_had_our_number_before_us_loses_its_lease_at_once() -> None:
    """A container that is started again has the name of the one before, and its processes their numbers."""
    run = take(make_run(), f"{socket.gethostname()}/{os.getpid()}/before")
    assert runs_without_owner() == [run.pk]
    assert lease_take(run.pk, owner_name()) is not None


def test_only_one_of_two_wardens_sends_the_task_of_a_lost_run() -> None:
    run = make_run()
    assert lease_mark_dispatched(run.pk)
    assert not lease_mark_dispatched(run.pk)
    assert lease_take(run.pk, "elsewhere/1/test") is not None


def test_a_finished_run_is_nobodys_and_is_not_taken_again() -> None:
    run = take(make_run())
    assert run_close(run.pk, run.fence, RunStatus.FINISHED)
    assert runs_without_owner() == []
    assert lease_take(run.pk, "elsewhere/2/test") is None


def test_a_live_run_whose_lease_ran_out_is_shown_as_stalled() -> None:
    run = take(make_run())
    Run.objects.filter(pk=run.pk).update(status=RunStatus.RUNNING)
    run.refresh_from_db()
    assert not run.is_stalled
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    run.refresh_from_db()
    assert run.is_stalled


@pytest.mark.parametrize(("status", "state"), [(RunStatus.FINISHED, "refused"), (RunStatus.FAILED, "pending")])
def test_what_came_too_late_is_refused_unless_the_run_can_be_resumed(status: RunStatus, state: str) -> None:
    run = take(make_run())
    command = RunCommand.objects.create(run=run, command_id=uuid.uuid4(), name="hint", args={"text": "Try."})
    assert run_close(run.pk, run.fence, status)
    command.refresh_from_db()
    assert command.state == state
    assert ("ended before" in command.reason) == (state == "refused")
