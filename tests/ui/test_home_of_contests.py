"""The home page of coaches and students: their own tasks in contests, and nothing else."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.marks.models import ReleasePart
from apps.results.releasing import batch_release, readiness
from tests.contests.factory import enter, hand_in, make_contest, moved
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, sealed
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def home(client: Client, **headers: str) -> str:
    return client.get(reverse("home"), headers=headers).content.decode()


def test_a_coach_sees_how_many_scripts_are_left_and_a_link_to_mark(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=3)
    page = home(client_for(dana))
    assert "3 scripts to mark" in page
    assert f'href="{reverse("marks:home")}">Mark<' in page
    past_grace(sealed(claimed(problem, dana), dana))
    assert "2 scripts to mark" in home(client_for(dana))


def test_other_open_tasks_are_shown_too(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2)
    past_grace(sealed(claimed(problem, bob), bob))
    past_grace(sealed(claimed(problem, dana), dana, ("claim", {"line": "A1 A2 -D1"}), ("reason", {"words": "A slip."}),
                      ("comment", {"id": "c1", "step": 1, "words": "Here."})))  # fmt: skip
    page = home(client_for(bob))
    assert "no script to mark" in page
    assert "1 script to settle with a colleague" in page


def test_coaches_of_other_contests_see_no_contests(bob: User, alice: User, client_for: ClientFor) -> None:
    problem_to_mark(bob, scripts=1)
    for other in (alice, marker("eve")):
        page = home(client_for(other))
        assert "scripts to mark" not in page
        assert "Selection test" not in page


def test_a_closed_contest_leaves_the_home_page(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem(), state=ContestState.MARKING)
    assert "Selection test" in home(client_for(bob))
    moved(contest, ContestState.CLOSED)
    assert "Selection test" not in home(client_for(bob))


def test_a_student_sees_what_is_not_handed_in_and_until_when(bob: User, charlie: User, client_for: ClientFor) -> None:
    closes = timezone.now() + timedelta(days=1)
    contest = make_contest(bob, make_problem("One"), make_problem("Two"), state=ContestState.OPEN, closes_at=closes)
    paper, problem = enter(contest, charlie)
    client = client_for(charlie)
    page = home(client)
    assert "nothing handed in for 2 problems" in page
    assert "closes <time" in page
    assert f"{closes:%-d %b %Y}" in page
    hand_in(paper, problem)
    assert "nothing handed in for 1 problem " in home(client)


def test_students_do_not_see_a_contest_before_it_begins(bob: User, charlie: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem())
    enter(contest, charlie)
    assert "Selection test" not in home(client_for(charlie))
    begins = timezone.now() + timedelta(days=1)
    Contest.objects.filter(pk=contest.pk).update(state=ContestState.OPEN, opens_at=begins)
    assert "Selection test" not in home(client_for(charlie))


def test_results_are_announced_only_after_their_release(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, scripts=1)
    enter(problem.contest, charlie)
    past_grace(sealed(claimed(problem, bob), bob))
    client = client_for(charlie)
    page = home(client)
    assert "hand-in is closed" in page
    assert "results are released" not in page
    ready = readiness(problem.contest)
    batch_release(
        contest=problem.contest, by=bob, parts=[ReleasePart.POINTS], expected=ready.token, leaves_out=False, address="http://x/"
    )
    assert "results are released" in home(client)


def test_an_update_of_live_runs_does_not_include_contests(bob: User, client_for: ClientFor) -> None:
    make_contest(bob, make_problem(), state=ContestState.MARKING)
    assert "Selection test" not in home(client_for(bob), **{"HX-Request": "true"})
