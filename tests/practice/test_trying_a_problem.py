"""A student tries a problem of the library alone: no contest, no coach and no roster."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Role, User
from apps.contests.access import contest_listed_for, contests_administered_by
from apps.contests.models import Contest, ContestKind, ContestState
from apps.contests.practice import practice_of
from apps.practice import questions
from apps.practice.models import Attempt
from apps.problems.access import problem_visible_to
from apps.submissions.models import SubmissionVersion
from tests.contests.factory import make_contest
from tests.practice.factory import OWN, attempted, handed_in, sheet_of, tried
from tests.problems.factory import make_problem

ClientFor = Callable[[User | None], Client]


def test_a_student_writes_and_hands_in_without_a_contest(charlie: User, client_for: ClientFor) -> None:
    problem, client = make_problem(), client_for(charlie)
    page = client.get(reverse("problems:detail", args=[problem.slug])).content.decode()
    assert "Try this problem" in page
    write = client.post(reverse("practice:try", args=[problem.slug]))["Location"]
    assert '<a href="/practice/" aria-current="true">' in client.get(write).content.decode()
    again = client.post(reverse("practice:try", args=[problem.slug]))["Location"]
    assert write == again
    draft = {"text": OWN, "text_format": "markdown", "based_on": "0"}
    assert client.post(write.replace("/write/", "/draft/"), draft).status_code == 200
    shown = client.post(write, {**draft, "based_on": "1"}, follow=True)
    version = SubmissionVersion.objects.get()
    assert shown.redirect_chain[-1][0] == reverse("practice:attempt", args=[version.public_id])
    assert "Version 1" in shown.content.decode()
    assert "Sums of two squares" in client.get(reverse("practice:path")).content.decode()


def test_practice_is_in_no_list_of_contests_and_hides_no_problem(
    alice: User, bob: User, charlie: User, dana: User, client_for: ClientFor
) -> None:
    version = attempted(charlie)
    contest = practice_of(charlie)
    assert contest is not None
    assert contest.kind == ContestKind.PRACTICE
    assert not contest_listed_for(charlie).exists()
    assert not contests_administered_by(dana).exists()
    for person in (alice, bob, charlie, dana):
        assert problem_visible_to(person).filter(pk=version.submission.problem.problem_id).exists()
        client = client_for(person)
        for name in ("home", "contests:list"):
            assert "/contests/" + str(contest.public_id) not in client.get(reverse(name)).content.decode()
    assert client_for(charlie).get(reverse("submissions:own", args=[contest.public_id]))["Location"] == reverse("practice:path")


@pytest.mark.parametrize("name", ["alice", "bob", "dana"])
def test_only_its_student_opens_a_practice(
    name: str, request: pytest.FixtureRequest, charlie: User, client_for: ClientFor
) -> None:
    contest = attempted(charlie).submission.paper.contest
    client = client_for(request.getfixturevalue(name))
    for page in (
        "contests:detail",
        "contests:edit",
        "contests:roster",
        "submissions:own",
        "submissions:paper_list",
        "results:release",
    ):
        assert client.get(reverse(page, args=[contest.public_id])).status_code == 404, page


def test_a_problem_of_a_running_contest_cannot_be_tried(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = make_problem()
    make_contest(bob, problem, state=ContestState.OPEN)
    assert client_for(charlie).post(reverse("practice:try", args=[problem.slug])).status_code == 404
    assert not Contest.objects.filter(kind=ContestKind.PRACTICE).exists()


def test_a_problem_of_an_own_open_sheet_is_tried_there(bob: User, charlie: User) -> None:
    row = sheet_of(bob, charlie)
    assert tried(charlie, row.problem) == row
    assert practice_of(charlie) is None


def test_two_students_have_practices_of_their_own(charlie: User) -> None:
    other = User.objects.create_user("erin", role=Role.STUDENT)
    problem = make_problem()
    assert tried(charlie, problem).contest_id != tried(other, problem).contest_id


def test_a_problem_that_was_set_aside_comes_back_later_each_time(charlie: User, client_for: ClientFor) -> None:
    row, client = tried(charlie), client_for(charlie)
    handed_in(row)
    days = []
    for _ in range(5):
        client.post(reverse("practice:decide", args=[row.public_id, "aside"]))
        attempt = Attempt.objects.get()
        assert attempt.returns_at is not None
        assert attempt.aside_at is not None
        days.append((attempt.returns_at - attempt.aside_at).days)
        client.post(reverse("practice:decide", args=[row.public_id, "again"]))
    assert days == [2, 7, 21, 60, 60]
    assert client.post(reverse("practice:decide", args=[row.public_id, "burn"])).status_code == 404


def test_a_sheet_that_opens_later_says_so_in_practice(charlie: User, bob: User) -> None:
    version = attempted(charlie)
    row = sheet_of(bob, charlie, version.submission.problem.problem)
    row.opens_at = timezone.now() + timedelta(days=1)
    row.save()
    assert "Help is given there from its opening time, by its rules." in questions.ask_refusal(version)
