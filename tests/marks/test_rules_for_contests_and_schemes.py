"""A contest that is being marked keeps its scheme, unless the right people change it, and the step of its points."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.contests.services import ContestRefused, Settings, captain_set, contest_move, contest_save
from apps.schemes.models import MarkingScheme
from apps.schemes.services import SchemeHeld, scheme_activate, scheme_retire
from tests.marks.factory import claimed, marker, problem_to_mark, sealed
from tests.schemes.factory import make_scheme

ClientFor = Callable[[User | None], Client]


def test_the_scheme_of_a_contest_being_marked_is_its_captains(bob: User, dana: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    problem = problem_to_mark(bob, dana, eve)
    captain_set(row=problem, captain=dana)
    scheme = MarkingScheme.objects.get()
    page = client_for(eve).post(f"/schemes/{scheme.public_id}/retire/", {"based_on": str(scheme.row_version)}, follow=True)
    assert "is being marked with this scheme" in page.content.decode()
    assert scheme.versions.get().status == "active"
    with pytest.raises(SchemeHeld, match="captain"):
        scheme_activate(scheme=scheme, by=eve, based_on=scheme.row_version)
    scheme_retire(scheme=scheme, by=dana, based_on=scheme.row_version)
    assert scheme.versions.get().status == "retired"


def test_any_coach_changes_a_scheme_that_no_contest_is_marked_with(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana)
    contest = problem.contest
    contest_move(contest=contest, verb="close", based_on=contest.row_version)
    scheme = MarkingScheme.objects.get()
    scheme_retire(scheme=scheme, by=marker("eve"), based_on=scheme.row_version)
    other = make_scheme(bob, problem.problem)
    assert other.versions.get().status == "draft"


def test_the_step_of_points_stays_once_a_mark_is_sealed(bob: User) -> None:
    problem = problem_to_mark(bob)
    contest = problem.contest
    contest = contest_save(contest=contest, settings=settings("0.5"), based_on=contest.row_version)
    task = claimed(problem, bob)
    contest = contest_save(contest=contest, settings=settings("1"), based_on=contest.row_version)
    sealed(task, bob)
    with pytest.raises(ContestRefused, match="Marks were sealed"):
        contest_save(contest=contest, settings=settings("0.5"), based_on=contest.row_version)
    assert contest_save(contest=contest, settings=settings("1"), based_on=contest.row_version).title == "Another title"


def settings(step: str) -> Settings:
    return Settings(title="Another title", point_step=step)
