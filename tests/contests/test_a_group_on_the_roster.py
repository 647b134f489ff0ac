"""Users who may read the roster add a group of students to a contest: all students or none."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role, StudentGroup, User
from apps.contests.models import Contest, ContestState
from apps.contests.services import coach_add
from apps.marks.models import AuditEvent
from tests.accounts.factory import a_group
from tests.contests.factory import enter, make_contest

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def eve(db: None) -> User:
    return User.objects.create_user("eve", role=Role.STUDENT)


def post(client: Client, contest: Contest, group: StudentGroup | str) -> tuple[int, str]:
    """The status of the response and the final page."""
    key = str(group.public_id) if isinstance(group, StudentGroup) else group
    answer = client.post(reverse("contests:roster_group", args=[contest.public_id]), {"group": key}, follow=True)
    return answer.status_code, answer.content.decode()


def names(contest: Contest) -> list[tuple[str, str]]:
    return sorted(contest.identities.values_list("person__username", "school"))


def test_all_students_of_a_group_are_added_with_their_schools(
    bob: User, charlie: User, eve: User, client_for: ClientFor
) -> None:
    contest, client = make_contest(bob), client_for(bob)
    group = a_group(charlie, eve, school="North School")
    page = client.get(reverse("contests:roster", args=[contest.public_id])).content.decode()
    assert f'value="{group.public_id}"' in page
    assert reverse("accounts:group_list") in page
    assert "2 added from “Winter camp”." in post(client, contest, group)[1]
    assert names(contest) == [("charlie", "North School"), ("eve", "North School")]
    event = AuditEvent.objects.get(verb="contest.students")
    assert (event.actor, event.body) == (bob, {"added": 2})
    assert reverse("accounts:group_list") in client.get(reverse("contests:list")).content.decode()


def test_an_open_contest_keeps_known_students_and_adds_the_others(
    bob: User, charlie: User, eve: User, client_for: ClientFor
) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    paper, _ = enter(contest, charlie, "South School")
    _, page = post(client_for(bob), contest, a_group(charlie, eve, school="North School"))
    assert "1 added from “Winter camp”, 1 already in the contest." in page
    assert names(contest) == [("charlie", "South School"), ("eve", "North School")]
    assert contest.identities.get(person=charlie).paper == paper


@pytest.mark.parametrize(
    "reason", ["closed account", "other role", "coach of the contest", "being marked", "closed contest", "empty"]
)
def test_one_refused_student_refuses_the_group_with_a_reason(
    bob: User, charlie: User, eve: User, client_for: ClientFor, reason: str
) -> None:
    states = {"closed contest": ContestState.CLOSED, "being marked": ContestState.MARKING}
    contest = make_contest(bob, state=states.get(reason, ContestState.PREPARING))
    group = a_group() if reason == "empty" else a_group(charlie, eve)
    expected = {
        "closed account": "eve: no open student account.",
        "other role": "eve: no open student account.",
        "coach of the contest": "eve is a coach of this contest.",
        "being marked": "The contest is being marked. Reopen it first.",
        "closed contest": "The contest is closed.",
        "empty": "The group “Winter camp” has no students yet.",
    }[reason]
    if reason == "closed account":
        User.objects.filter(pk=eve.pk).update(is_active=False)
    elif reason == "other role":
        User.objects.filter(pk=eve.pk).update(role=Role.COACH)
    elif reason == "coach of the contest":
        contest.coaches.create(person=eve)
    status, page = post(client_for(bob), contest, group)
    assert status == 422
    assert f"{expected} " in page
    assert "No students were added." in page
    assert names(contest) == []


def test_only_readers_of_the_roster_add_groups_and_only_visible_ones(
    bob: User, alice: User, charlie: User, dana: User, client_for: ClientFor
) -> None:
    contest, group = make_contest(bob), a_group(charlie)
    coach_add(contest=contest, person=dana)
    coach_add(contest=contest, person=alice, is_organiser=True)
    for user in (alice, charlie, dana):
        assert post(client_for(user), contest, group)[0] == 404, user.username
    for wrong in ("", "no-id", "5e1f0a3c-9c1b-4b43-8f2d-0b8f6f1f7c11", "a\0b"):
        assert post(client_for(bob), contest, wrong)[0] == 422, wrong
    assert names(contest) == []


def test_later_changes_of_a_group_do_not_affect_contests(bob: User, charlie: User, client_for: ClientFor) -> None:
    contest, group = make_contest(bob), a_group(charlie)
    post(client_for(bob), contest, group)
    group.delete()
    assert names(contest) == [("charlie", "")]
