"""An organiser prepares, opens, marks and closes a contest; each state rejects operations of other states."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests import services
from apps.contests.models import Contest, ContestState
from apps.contests.services import ContestChanged, ContestRefused, Settings, coach_add, coach_remove
from apps.contests.windows import hand_in_refusal
from tests.contests.factory import enter, make_contest, moved
from tests.problems.factory import make_problem

ClientFor = Callable[[User | None], Client]


def test_a_coach_creates_a_contest_and_organises_it(bob: User, client_for: ClientFor) -> None:
    posted = {"title": "  Selection   test ", "point_step": "0.5", "is_anonymous": "on", "opens_at": "", "closes_at": ""}
    answer = client_for(bob).post(reverse("contests:create"), posted)
    contest = Contest.objects.get()
    assert answer.status_code == 302
    assert (contest.title, contest.point_step, contest.is_anonymous) == ("Selection test", "0.5", True)
    coach = contest.coaches.get()
    assert (coach.person, coach.is_organiser, coach.may_reveal) == (bob, True, True)


def test_a_contest_is_anonymous_by_default(bob: User, client_for: ClientFor) -> None:
    page = client_for(bob).get(reverse("contests:create")).content.decode()
    assert "checked" in page.split('name="is_anonymous"')[1].split(">")[0]
    assert make_contest(bob).is_anonymous


def test_a_contest_that_closes_before_it_opens_is_refused(bob: User, client_for: ClientFor) -> None:
    posted = {"title": "Test", "point_step": "1", "opens_at": "2026-05-02T10:00", "closes_at": "2026-05-01T10:00"}
    answer = client_for(bob).post(reverse("contests:create"), posted)
    assert answer.status_code == 422
    assert "The closing time must be after the opening time." in answer.content.decode()
    assert not Contest.objects.exists()


def test_a_contest_without_problems_is_not_opened(bob: User) -> None:
    contest = services.contest_create(settings=Settings(title="Empty"), by=bob)
    with pytest.raises(ContestRefused, match="no problem"):
        services.contest_move(contest=contest, verb="open", based_on=1)


def test_opening_fixes_the_statement_for_students(bob: User) -> None:
    problem = make_problem()
    contest = make_contest(bob, problem)
    newer = problem.versions.create(number=2, statement="Corrected.")
    contest = moved(contest, ContestState.OPEN)
    problem.versions.create(number=3, statement="Changed during the contest.")
    assert contest.problems.get().version == newer


def test_problems_can_be_changed_only_in_preparation(bob: User) -> None:
    contest = make_contest(bob)
    row = services.problem_add(contest=contest, problem=make_problem("Another"), label="X")
    with pytest.raises(ContestRefused, match="labelled x"):
        services.problem_add(contest=contest, problem=make_problem("Third"), label="x")
    services.problem_remove(row=row)
    contest = moved(contest, ContestState.OPEN)
    with pytest.raises(ContestRefused, match="was opened"):
        services.problem_add(contest=contest, problem=make_problem("Late"))
    with pytest.raises(ContestRefused, match="was opened"):
        services.problem_remove(row=contest.problems.get())


def test_a_move_from_another_state_is_refused(bob: User) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    with pytest.raises(ContestRefused, match="open"):
        services.contest_move(contest=contest, verb="close", based_on=contest.row_version)


def test_concurrent_changes_of_two_organisers_do_not_overwrite_each_other(bob: User, client_for: ClientFor) -> None:
    contest = make_contest(bob)
    moved(contest, ContestState.OPEN)
    with pytest.raises(ContestChanged):
        services.contest_save(contest=contest, settings=Settings(title="Mine"), based_on=contest.row_version)
    url = reverse("contests:move", kwargs={"contest_id": contest.public_id, "verb": "mark"})
    answer = client_for(bob).post(url, {"based_on": contest.row_version}, follow=True)
    assert "changed the contest meanwhile" in answer.content.decode()
    contest.refresh_from_db()
    assert contest.state == ContestState.OPEN


def test_anonymity_cannot_end_after_opening(bob: User) -> None:
    contest = make_contest(bob)
    contest = services.contest_save(
        contest=contest, settings=Settings(title="Open", is_anonymous=False), based_on=contest.row_version
    )
    contest = services.contest_save(contest=contest, settings=Settings(title="Shut"), based_on=contest.row_version)
    contest = moved(contest, ContestState.OPEN)
    with pytest.raises(ContestRefused, match="anonymous"):
        services.contest_save(
            contest=contest, settings=Settings(title="Open", is_anonymous=False), based_on=contest.row_version
        )


def test_handing_in_ends_with_the_window(bob: User) -> None:
    now = timezone.now()
    contest = make_contest(
        bob, state=ContestState.OPEN, opens_at=now - timedelta(hours=4), closes_at=now + timedelta(minutes=1)
    )
    assert hand_in_refusal(contest) == ""
    assert "not open yet" in hand_in_refusal(contest, now - timedelta(hours=5))
    assert "time is over" in hand_in_refusal(contest, now + timedelta(minutes=1))
    assert "Nothing more" in hand_in_refusal(moved(contest, ContestState.MARKING))


def test_a_captain_is_a_coach_of_the_contest(bob: User, dana: User) -> None:
    contest = make_contest(bob)
    row = contest.problems.get()
    with pytest.raises(ContestRefused, match="no coach"):
        services.captain_set(row=row, captain=dana)
    coach = services.coach_add(contest=contest, person=dana)
    services.captain_set(row=row, captain=dana)
    services.coach_remove(coach=coach)
    row.refresh_from_db()
    assert row.captain is None


def test_a_person_cannot_be_coach_and_student_of_one_contest(bob: User, charlie: User, alice: User) -> None:
    contest = make_contest(bob)
    with pytest.raises(ContestRefused, match="neither a coach nor a researcher"):
        services.coach_add(contest=contest, person=charlie)
    with pytest.raises(ContestRefused, match="is a coach"):
        enter(contest, bob)
    enter(contest, alice)
    with pytest.raises(ContestRefused, match="takes part"):
        services.coach_add(contest=contest, person=alice)


def test_the_last_organiser_stays(bob: User) -> None:
    with pytest.raises(ContestRefused, match="needs an organiser"):
        services.coach_remove(coach=make_contest(bob).coaches.get())


def test_an_organiser_adds_problems_coaches_and_students_on_the_pages(
    bob: User, dana: User, charlie: User, client_for: ClientFor
) -> None:
    problem = make_problem()
    contest = services.contest_create(settings=Settings(title="Test"), by=bob)
    client, where = client_for(bob), {"contest_id": contest.public_id}
    client.post(reverse("contests:problem_change", kwargs=where), {"problem": problem.pk, "label": "A1", "captain": bob.pk})
    client.post(reverse("contests:coach_change", kwargs=where), {"username": "dana"})
    client.post(reverse("contests:roster", kwargs=where), {"students": "charlie, Lyceum 3\n"})
    assert (contest.problems.get().label, contest.problems.get().captain) == ("A1", bob)
    assert contest.coaches.count() == 2
    assert contest.identities.get().school == "Lyceum 3"
    page = client.get(reverse("contests:detail", kwargs=where)).content.decode()
    assert "captain: Bob" in page
    assert "Dana" in page


def test_an_organiser_appoints_another_organiser(bob: User, dana: User, client_for: ClientFor) -> None:
    contest = make_contest(bob)
    address = f"/contests/{contest.public_id}/coaches/"
    coach_add(contest=contest, person=dana)
    assert client_for(dana).post(address, {"username": "dana", "is_organiser": "on"}).status_code == 404
    assert client_for(bob).post(address, {"username": "dana", "is_organiser": "on"}).status_code == 302
    assert contest.coaches.get(person=dana).is_organiser
    coach_add(contest=contest, person=dana)
    assert contest.coaches.get(person=dana).is_organiser, "adding an organiser again keeps the role"
    coach_remove(coach=contest.coaches.get(person=bob))
    assert contest.coaches.get().person == dana
