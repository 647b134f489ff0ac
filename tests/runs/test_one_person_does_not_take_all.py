"""Limits of one person: runs driven at a time, and calls under way over all of them."""

import pytest
from pytest_django import Settings

from apps.accounts.models import Role, User
from apps.runs.models import BATCHED, Run, RunStatus
from apps.runs.owners.leases import lease_mark_dispatched, lease_release, lease_take, runs_without_owner
from apps.runs.owners.shares import window_of
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", role=Role.RESEARCHER)


def a_run_of(owner: User | None) -> Run:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(owner=owner)
    run.refresh_from_db()
    return run


def test_a_run_too_many_waits_says_so_and_begins_when_another_has_ended(alice: User, settings: Settings) -> None:
    settings.USER_RUNS = 2
    first, second, third = (a_run_of(alice) for _ in range(3))
    taken = lease_take(first.pk, "elsewhere/1/a")
    assert taken
    assert lease_take(second.pk, "elsewhere/1/b")
    assert lease_mark_dispatched(third.pk)
    assert lease_take(third.pk, "elsewhere/1/c") is None
    third.refresh_from_db()
    assert third.status == RunStatus.QUEUED
    assert third.status_reason == "Waiting until one of 2 running runs has ended."
    assert runs_without_owner() == []

    Run.objects.filter(pk=first.pk).update(status=RunStatus.FINISHED)
    lease_release(first.pk, taken.fence)
    assert runs_without_owner() == [third.pk]
    taken = lease_take(third.pk, "elsewhere/1/c")
    assert taken
    assert taken.status_reason == ""


def test_other_users_and_runs_without_a_user_do_not_wait(alice: User, settings: Settings) -> None:
    settings.USER_RUNS = 1
    bob = User.objects.create_user("bob", role=Role.RESEARCHER)
    assert lease_take(a_run_of(alice).pk, "elsewhere/1/a")
    assert lease_take(a_run_of(bob).pk, "elsewhere/1/b")
    assert lease_take(a_run_of(None).pk, "elsewhere/1/c")
    assert lease_take(a_run_of(None).pk, "elsewhere/1/d")


def test_gradings_of_experiments_have_a_limit_of_their_own(alice: User, settings: Settings) -> None:
    settings.USER_RUNS = 1
    for number in range(3):
        grading = a_run_of(alice)
        Run.objects.filter(pk=grading.pk).update(preset=BATCHED)
        assert lease_take(grading.pk, f"elsewhere/1/{number}")
    by_hand, other, waiting = (a_run_of(alice) for _ in range(3))
    assert lease_take(by_hand.pk, "elsewhere/1/a"), "gradings take no place from what a person starts"
    assert lease_take(other.pk, "elsewhere/1/b") is None
    Run.objects.filter(pk=waiting.pk).update(preset=BATCHED)
    assert waiting.pk in runs_without_owner()


def test_a_paused_run_leaves_room_for_another(alice: User, settings: Settings) -> None:
    settings.USER_RUNS = 1
    paused = lease_take(a_run_of(alice).pk, "elsewhere/1/a")
    assert paused
    Run.objects.filter(pk=paused.pk).update(status=RunStatus.PAUSED)
    assert lease_take(a_run_of(alice).pk, "elsewhere/1/b")


def test_the_calls_of_a_person_are_shared_out_evenly_over_the_runs(alice: User, settings: Settings) -> None:
    settings.RUN_WINDOW, settings.USER_WINDOW = 64, 96
    runs = [a_run_of(alice) for _ in range(3)]
    found = []
    for number, run in enumerate(runs):
        assert lease_take(run.pk, f"elsewhere/1/{number}")
        found.append(window_of(run.pk, alice.pk))
    assert found == [64, 48, 32]
    assert window_of(runs[0].pk, alice.pk) == 32
    settings.USER_WINDOW = 2
    assert window_of(runs[0].pk, alice.pk) == 1, "no run is stopped altogether"
    assert window_of(a_run_of(None).pk, None) == 64


def test_gradings_of_experiments_leave_the_calls_of_what_a_person_starts(alice: User, settings: Settings) -> None:
    settings.RUN_WINDOW, settings.USER_WINDOW = 64, 96
    grading, by_hand = a_run_of(alice), a_run_of(alice)
    Run.objects.filter(pk=grading.pk).update(preset=BATCHED)
    for number, run in enumerate((grading, by_hand)):
        assert lease_take(run.pk, f"elsewhere/1/{number}")
    assert window_of(by_hand.pk, alice.pk) == 64
    assert window_of(grading.pk, alice.pk) == 48, "batch work shares with all"
