"""Changes that are hard to undo need a confirmation that names their effects; the next page reports the change."""

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
    """Confirmation questions of the forms and buttons of a page."""
    page = client.get(address)
    assert page.status_code == 200
    return [html.unescape(one) for one in re.findall(r'name="ask" value="[^"|]*\|[^"|]*\|([^"]+)"', page.content.decode())]


def at(name: str, contest: Contest) -> str:
    return reverse(f"contests:{name}", kwargs={"contest_id": contest.public_id})


@pytest.mark.parametrize(
    ("state", "asked"),
    [
        (ContestState.PREPARING, ["you cannot change problems"]),
        (ContestState.OPEN, ["drafts are not marked"]),
        (ContestState.MARKING, ["Marking pauses", "The library shows its problems to all readers again"]),
        (ContestState.CLOSED, ["the library hides its problem, with solutions, schemes and runs"]),
    ],
)
def test_every_move_with_a_loss_needs_confirmation(
    bob: User, client_for: ClientFor, state: ContestState, asked: list[str]
) -> None:
    contest = make_contest(bob, make_problem(), state=state)
    found = [one for one in questions(client_for(bob), at("detail", contest)) if not one.startswith("Remove ")]
    assert len(found) == len(asked)
    for part in asked:
        assert any(part in one for one in found), part


def test_staff_confirm_hiding_and_questions_mention_the_library_only_if_it_hides_problems(
    bob: User, dana: User, client_for: ClientFor
) -> None:
    prepared = make_contest(bob, make_problem("One"), title="Prepared")
    shown = make_contest(bob, make_problem("Two"), title="Shown", state=ContestState.OPEN)
    Contest.objects.filter(pk=shown.pk).update(shows_problems=True)
    found = questions(client_for(dana), reverse("contests:administration"))
    hiding = next(one for one in found if one.startswith("Hide the problems of “Shown” again?"))
    assert "the library hides its problem" in hiding
    assert "can no longer read it there" in hiding
    deletion = next(one for one in found if one.startswith(f"Delete “{prepared.title}”?"))
    assert "library" not in deletion


def test_the_question_before_opening_counts_those_who_lose_access(
    bob: User, alice: User, charlie: User, dana: User, client_for: ClientFor
) -> None:
    problem = make_problem("Two")
    contest = make_contest(bob, problem, make_problem("Three"))
    make_contest(dana, problem, title="Another")
    found = next(one for one in questions(client_for(bob), at("detail", contest)) if one.startswith("Open “"))
    assert "the library hides its 2 problems, with solutions, schemes and runs, from all but its coaches:" in found
    assert "2 other coaches or researchers and 1 student can no longer read them there." in found
    assert "1 contest in preparation cannot open with them until then" in found
    coach_add(contest=contest, person=dana)
    found = next(one for one in questions(client_for(bob), at("detail", contest)) if one.startswith("Open “"))
    assert "1 other coach or researcher and 1 student" in found


def test_the_question_before_early_marking_mentions_the_time(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem(), state=ContestState.OPEN)
    early = "Its time is not over yet"
    assert not any(early in one for one in questions(client_for(bob), at("detail", contest)))
    Contest.objects.filter(pk=contest.pk).update(closes_at=timezone.now() + timedelta(hours=1))
    assert any(early in one for one in questions(client_for(bob), at("detail", contest)))


def test_the_question_before_removing_a_coach_names_their_problems(bob: User, dana: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem())
    coach_add(contest=contest, person=dana)
    captain_set(row=contest.problems.get(), captain=dana)
    found = questions(client_for(bob), at("detail", contest))
    assert [
        one for one in found if one.startswith("Remove dana from") and one.endswith("These problems lose their captain: 1.")
    ]
    assert [one for one in found if one.startswith("Remove yourself") and "only another organiser can add you" in one]
    page = client_for(bob).post(at("coach_change", contest), {"remove": "dana"}, follow=True).content.decode()
    assert "dana is no longer a coach of" in page
    assert not contest.coaches.filter(person=dana).exists()


def test_adding_and_removing_a_student_are_reported_and_removal_is_confirmed(
    bob: User, charlie: User, client_for: ClientFor
) -> None:
    contest = make_contest(bob, make_problem())
    client = client_for(bob)
    added = client.post(at("roster", contest), {"students": "charlie, Lyceum; DE-17"}, follow=True).content.decode()
    assert "1 added." in added
    assert "<td>Lyceum</td><td>DE-17</td>" in added
    again = client.post(at("roster", contest), {"students": "charlie; DE-18"}, follow=True).content.decode()
    assert "<td>Lyceum</td><td>DE-18</td>" in again, "an external id can be corrected"
    assert questions(client, at("roster", contest)) == [
        f"Remove Charlie from “{contest.title}”? You can add them again while the contest is not being marked."
    ]
    gone = client.post(at("student_remove", contest), {"username": "charlie"}, follow=True).content.decode()
    assert "Removed Charlie from the contest." in gone


def test_after_opening_no_question_offers_to_remove_a_student(bob: User, charlie: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem(), state=ContestState.OPEN)
    enter(contest, charlie)
    assert questions(client_for(bob), at("roster", contest)) == []
    kept = client_for(bob).post(at("student_remove", contest), {"username": "charlie"}, follow=True).content.decode()
    assert "Removed Charlie" not in kept
    assert contest.identities.filter(person=charlie).exists()


def test_the_question_before_withdrawing_mentions_older_versions(bob: User, charlie: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem(), state=ContestState.OPEN)
    paper, problem = enter(contest, charlie)
    first = hand_in(paper, problem, "One.")
    client = client_for(charlie)
    address = reverse("submissions:version_own", kwargs={"version_id": first.public_id})
    assert "older versions" not in questions(client, address)[0]
    second = hand_in(paper, problem, "Two.")
    address = reverse("submissions:version_own", kwargs={"version_id": second.public_id})
    assert "older versions are not marked either" in questions(client, address)[0]
    answer = client.post(reverse("submissions:version_withdraw", kwargs={"version_id": second.public_id}), follow=True)
    assert "No version of this problem is marked until you hand in a newer one." in answer.content.decode()
    moved(contest, ContestState.MARKING)
    assert questions(client, address) == [], "the time is over"


def test_marking_is_the_main_button_while_a_contest_is_marked_and_closing_is_not(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, make_problem(), state=ContestState.MARKING)
    page = client_for(bob).get(at("detail", contest)).content.decode()
    main = re.findall(r'class="button button--primary"[^>]*>([^<]+)<', page)
    assert "Mark" in main
    assert ">Close" in page
    assert not [words for words in main if words.startswith("Close")]
