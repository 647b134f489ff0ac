"""Organisers delete a contest without texts; staff restore it."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests import deletion
from apps.contests.access import contest_visible_to
from apps.contests.models import Contest, ContestState
from apps.contests.services import ContestChanged, ContestRefused, coach_add
from apps.marks.models import AuditEvent
from apps.problems.access import problem_visible_to
from apps.problems.models import Problem
from apps.submissions.models import TextFormat
from apps.submissions.services import draft_save, version_withdraw
from tests.contests.factory import enter, hand_in, make_contest
from tests.marks.factory import marker
from tests.submissions.pages import pages_given

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def at(name: str, contest: Contest, *args: str) -> str:
    return reverse(f"contests:{name}", args=[contest.public_id, *args])


@pytest.mark.parametrize("state", [ContestState.PREPARING, ContestState.OPEN, ContestState.MARKING, ContestState.CLOSED])
def test_an_empty_contest_is_deleted_and_restored(
    state: ContestState, bob: User, charlie: User, dana: User, client_for: ClientFor
) -> None:
    contest = make_contest(bob, state=ContestState.PREPARING)
    enter(contest, charlie)
    Contest.objects.filter(pk=contest.pk).update(state=state)
    page = client_for(bob).get(at("edit", contest)).content.decode()
    assert "Its 1 coach and 1 student can no longer open it" in page
    page = client_for(bob).post(at("delete", contest), {"based_on": contest.row_version}, follow=True).content.decode()
    assert f"Deleted “{contest.title}”. Staff can restore it." in page
    for user in (bob, charlie):
        assert contest not in contest_visible_to(user)
        assert client_for(user).get(at("detail", contest)).status_code == 404
        assert Problem.objects.get() in problem_visible_to(user)
    contest.refresh_from_db()
    client_for(dana).post(at("administer", contest, "restore"), {"based_on": contest.row_version})
    contest.refresh_from_db()
    assert contest.state == ContestState.PREPARING
    assert contest in contest_visible_to(bob)
    assert contest.identities.get().person == charlie
    assert set(AuditEvent.objects.values_list("verb", flat=True)) >= {"contest.deleted", "contest.restored"}


@pytest.mark.parametrize("left", ["handed in", "withdrawn", "begun", "a page"])
def test_a_contest_with_a_text_cannot_be_deleted(left: str, bob: User, charlie: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    paper, problem = enter(contest, charlie)
    if left == "a page":
        pages_given(paper, problem)
    elif left == "begun":
        draft_save(paper=paper, problem=problem, text="So", text_format=TextFormat.MARKDOWN, based_on=0)
    else:
        version = hand_in(paper, problem)
        if left == "withdrawn":
            version_withdraw(version=version)
    with pytest.raises(ContestRefused, match="a student's text would be lost"):
        deletion.contest_delete(contest=contest, based_on=contest.row_version, by=bob)
    page = client_for(bob).get(at("edit", contest)).content.decode()
    assert "Close the contest instead." in page
    assert at("delete", contest) not in page


def test_only_organisers_and_staff_delete_a_contest_and_only_its_current_version(
    bob: User, alice: User, charlie: User, client_for: ClientFor
) -> None:
    contest = make_contest(bob)
    coach_add(contest=contest, person=marker("eve"))
    sent = {"based_on": contest.row_version}
    for user in (marker("eve"), alice, charlie):
        assert client_for(user).post(at("delete", contest), sent).status_code == 404
        assert client_for(user).post(at("administer", contest, "delete"), sent).status_code == 404
    with pytest.raises(ContestChanged):
        deletion.contest_delete(contest=contest, based_on=contest.row_version + 1, by=bob)
    assert Contest.objects.get().state == ContestState.PREPARING


def test_only_a_deleted_contest_can_be_restored(bob: User) -> None:
    contest = make_contest(bob)
    with pytest.raises(ContestRefused, match="is not deleted"):
        deletion.contest_restore(contest=contest, based_on=contest.row_version, by=bob)
