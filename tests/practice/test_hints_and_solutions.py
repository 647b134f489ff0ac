"""Hints after an explanation, and solutions after an own attempt."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.practice.helping.rules import UNRELEASED, rules_save
from apps.practice.models import Attempt, HintTaken
from tests.contests.factory import make_contest, moved
from tests.practice.factory import HINTS, OWN, attempted, handed_in, on_sheet, sheet_of, tried, with_hints

ClientFor = Callable[[User | None], Client]
WHY = "I have tried small numbers and see no pattern."


def test_each_hint_needs_an_explanation_and_some_time(charlie: User, client_for: ClientFor) -> None:
    row, client = tried(charlie, with_hints()), client_for(charlie)
    url = reverse("practice:hints", args=[row.public_id])
    assert not any(hint in client.get(url).content.decode() for hint in HINTS)
    assert client.post(url, {"level": "0", "words": "stuck"}).status_code == 422
    assert not HintTaken.objects.exists()
    page = client.post(url, {"level": "0", "words": WHY}).content.decode()
    assert HINTS[0] in page
    assert HINTS[1] not in page
    assert "Try with this hint first." in client.post(url, {"level": "1", "words": WHY}).content.decode()
    assert HintTaken.objects.count() == 1
    for level in (1, 2):
        HintTaken.objects.update(at=timezone.now() - timedelta(minutes=4))
        client.post(url, {"level": str(level), "words": WHY})
    assert [one.text for one in HintTaken.objects.order_by("level")] == list(HINTS)
    assert "These were all hints." in client.get(url).content.decode()


def test_a_hint_cannot_be_skipped_or_taken_twice(charlie: User, client_for: ClientFor) -> None:
    row, client = tried(charlie, with_hints()), client_for(charlie)
    url = reverse("practice:hints", args=[row.public_id])
    assert "changed meanwhile" in client.post(url, {"level": "2", "words": WHY}).content.decode()
    for _ in range(2):
        client.post(url, {"level": "0", "words": WHY})
    assert HintTaken.objects.count() == 1


def test_a_sheet_may_forbid_hints(charlie: User, bob: User, client_for: ClientFor) -> None:
    row = sheet_of(bob, charlie, with_hints())
    rules_save(contest=row.contest, by=bob, gives_hints=False)
    url = reverse("practice:hints", args=[row.public_id])
    client_for(charlie).post(url, {"level": "0", "words": WHY})
    assert not HintTaken.objects.exists()


def test_a_solution_opens_step_by_step_after_an_own_attempt(charlie: User, client_for: ClientFor) -> None:
    version = attempted(charlie, with_hints(), text="I do not know.")
    client = client_for(charlie)
    url = reverse("practice:compare", args=[version.public_id])
    assert "Hand in an attempt of your own first" in client.get(url).content.decode()
    client.post(url, {"shown": "0"})
    assert not Attempt.objects.exists()
    version = handed_in(version.submission.problem, OWN)
    url = reverse("practice:compare", args=[version.public_id])
    assert "4k(k + 1)" not in client.get(url).content.decode()
    client.post(url, {"shown": "0"})
    client.post(url, {"shown": "0"})
    assert "4k(k + 1)" not in client.get(url).content.decode()
    client.post(url, {"shown": "1"})
    page = client.get(url).content.decode()
    assert "4k(k + 1)" in page
    assert "1 of 3 steps still closed" in page


def test_a_sheet_shows_solutions_at_its_end(charlie: User, bob: User, client_for: ClientFor) -> None:
    row = sheet_of(bob, charlie, with_hints())
    url = reverse("practice:compare", args=[on_sheet(row.contest, charlie).public_id])
    client = client_for(charlie)
    assert "when the time of this problem is over" in client.get(url).content.decode()
    moved(row.contest, ContestState.CLOSED)
    client.post(url, {"shown": "0"})
    page = client.get(url).content.decode()
    assert "2 of 3 steps still closed" in page, page


def test_solutions_and_hints_wait_for_a_closed_contest_that_has_not_released_them(
    charlie: User, bob: User, client_for: ClientFor
) -> None:
    problem = with_hints()
    version = attempted(charlie, problem)
    make_contest(bob, problem, state=ContestState.CLOSED)
    client = client_for(charlie)
    hints = reverse("practice:hints", args=[version.submission.problem.public_id])
    for url in (reverse("practice:compare", args=[version.public_id]), hints):
        client.post(url, {"shown": "0", "level": "0", "words": WHY})
        assert UNRELEASED in client.get(url).content.decode()
    assert not HintTaken.objects.exists()
    assert not Attempt.objects.exists()


@pytest.mark.parametrize("name", ["bob", "alice"])
def test_only_its_student_takes_hints_of_a_problem(
    name: str, request: pytest.FixtureRequest, charlie: User, client_for: ClientFor
) -> None:
    row = tried(charlie, with_hints())
    url = reverse("practice:hints", args=[row.public_id])
    assert client_for(request.getfixturevalue(name)).post(url, {"level": "0", "words": WHY}).status_code == 404
