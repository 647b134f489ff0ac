"""What is hard to take back is asked once, with what it does and what stays; afterwards the page says what was done."""

import html
import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.contests.services import captain_set, coach_add
from tests.contests.factory import enter, hand_in, make_contest, moved
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def questions(client: Client, address: str) -> list[str]:
    """What the forms and buttons of a page ask."""
    page = client.get(address)
    assert page.status_code == 200
    return [html.unescape(one) for one in re.findall(r'name="ask" value="[^"|]*\|[^"|]*\|([^"]+)"', page.content.decode())]


def at(name: str, contest: Contest) -> str:
    return reverse(f"contests:{name}", kwargs={"contest_id": contest.public_id})


@pytest.mark.parametrize(
    ("state", "asked"),
    [
        (ContestState.PREPARING, ["problems can no longer be changed"]),
        (ContestState.OPEN, ["what is only a draft is not marked"]),
        (ContestState.MARKING, ["Marking rests meanwhile", "Everybody finds its problems in the library again"]),
        (ContestState.CLOSED, ["the library hides its problem, with solutions, schemes and runs"]),
    ],
)
def test_every_move_of_a_contest_that_costs_something_is_asked(
    bob: User, client_for: ClientFor, state: ContestState, asked: list[str]
) -> None:
    contest = make_contest(bob, make_problem(), state=state)
    found = [one for one in questions(client_for(bob), at("detail", contest)) if not one.startswith("Take ")]
    assert len(found) == len(asked)
    for part in asked:
        assert any(part in one for one in found), part


def test_staff_are_asked_before_problems_are_hidden_again_and_told_of_the_library_only_where_it_hides_them(
    bob: User, dana: User, client_for: ClientFor
) -> None:
    prepared = make_contest(bob, make_problem("One"), title="Prepared")
    shown = make_contest(bob, make_problem("Two"), title="Shown", state=ContestState.OPEN)
    Contest.objects.filter(pk=shown.pk).update(shows_problems=True)
    found = questions(client_for(dana), reverse("contests:administration"))
    hiding = next(one for one in found if one.startswith("Hide the problems of “Shown” again?"))
    assert "the library hides its problem" in hiding
    assert "no longer find it there" in hiding
    deletion = next(one for one in found if one.startswith(f"Delete “{prepared.title}”?"))
    assert "library" not in deletion


def test_opening_says_who_loses_sight_of_what(bob: User, alice: User, charlie: User, dana: User, client_for: ClientFor) -> None:
    problem = make_problem("Two")
    contest = make_contest(bob, problem, make_problem("Three"))
    make_contest(dana, problem, title="Another")
    found = next(one for one in questions(client_for(bob), at("detail", contest)) if one.startswith("Open “"))
    assert "the library hides its 2 problems, with solutions, schemes and runs, from everybody but its coaches:" in found
    assert "2 other coaches or researchers and 1 student no longer find them there." in found
    assert "1 contest in preparation cannot open with them meanwhile" in found
    coach_add(contest=contest, person=dana)
    found = next(one for one in questions(client_for(bob), at("detail", contest)) if one.startswith("Open “"))
    assert "1 other coach or researcher and 1 student" in found


def test_marking_before_the_time_is_over_says_so(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem(), state=ContestState.OPEN)
    early = "Its time is not over yet"
    assert not any(early in one for one in questions(client_for(bob), at("detail", contest)))
    Contest.objects.filter(pk=contest.pk).update(closes_at=timezone.now() + timedelta(hours=1))
    assert any(early in one for one in questions(client_for(bob), at("detail", contest)))


def test_a_coach_is_taken_out_after_a_question_that_names_what_they_lead(bob: User, dana: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem())
    coach_add(contest=contest, person=dana)
    captain_set(row=contest.problems.get(), captain=dana)
    found = questions(client_for(bob), at("detail", contest))
    assert [one for one in found if one.startswith("Take dana out") and one.endswith("Without a captain then: problem 1.")]
    assert [one for one in found if one.startswith("Take yourself out") and "only another organiser can let you in" in one]
    page = client_for(bob).post(at("coach_change", contest), {"remove": "dana"}, follow=True).content.decode()
    assert "dana is no coach of" in page
    assert not contest.coaches.filter(person=dana).exists()


def test_a_student_is_taken_out_after_a_question_and_both_ways_are_told(
    bob: User, charlie: User, client_for: ClientFor
) -> None:
    contest = make_contest(bob, make_problem())
    client = client_for(bob)
    added = client.post(at("roster", contest), {"students": "charlie, Lyceum; DE-17"}, follow=True).content.decode()
    assert "1 added." in added
    assert "<td>Lyceum</td><td>DE-17</td>" in added
    again = client.post(at("roster", contest), {"students": "charlie; DE-18"}, follow=True).content.decode()
    assert "<td>Lyceum</td><td>DE-18</td>" in again, "an external id can be mended"
    assert questions(client, at("roster", contest)) == [
        f"Take Charlie out of “{contest.title}”? You can add them again while the contest is not being marked."
    ]
    gone = client.post(at("student_remove", contest), {"username": "charlie"}, follow=True).content.decode()
    assert "Charlie takes part no more." in gone


def test_once_a_contest_was_opened_nobody_is_asked_about_students_who_stay(
    bob: User, charlie: User, client_for: ClientFor
) -> None:
    contest = make_contest(bob, make_problem(), state=ContestState.OPEN)
    enter(contest, charlie)
    assert questions(client_for(bob), at("roster", contest)) == []
    kept = client_for(bob).post(at("student_remove", contest), {"username": "charlie"}, follow=True).content.decode()
    assert "takes part no more" not in kept
    assert contest.identities.filter(person=charlie).exists()


def test_withdrawing_says_that_older_versions_are_not_marked_instead(bob: User, charlie: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem(), state=ContestState.OPEN)
    paper, problem = enter(contest, charlie)
    first = hand_in(paper, problem, "One.")
    client = client_for(charlie)
    address = reverse("submissions:version_own", kwargs={"version_id": first.public_id})
    assert "older versions" not in questions(client, address)[0]
    second = hand_in(paper, problem, "Two.")
    address = reverse("submissions:version_own", kwargs={"version_id": second.public_id})
    assert "older versions neither" in questions(client, address)[0]
    told = client.post(reverse("submissions:version_withdraw", kwargs={"version_id": second.public_id}), follow=True)
    assert "Nothing of this problem is marked until you hand in a newer version." in told.content.decode()
    moved(contest, ContestState.MARKING)
    assert questions(client, address) == [], "the time is over"
