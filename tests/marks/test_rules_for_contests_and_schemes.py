"""A contest in marking keeps its scheme, unless a captain changes it, and its point step."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.contests.services import ContestRefused, Settings, captain_set, contest_move, contest_save
from apps.marks.models import MarkingSetup
from apps.marks.sealing.sealing import NotReady
from apps.marks.setups import Choices, SetupRefused, setup_save
from apps.marks.workspace.drafts import draft_of
from apps.schemes.models import MarkingScheme
from apps.schemes.services import SchemeHeld, scheme_activate, scheme_retire
from tests.marks.factory import claimed, marker, problem_to_mark, scheme_active, sealed
from tests.marks.office.test_scheme_change import CHEAPER, written
from tests.schemes.factory import make_scheme

ClientFor = Callable[[User | None], Client]


def test_only_captains_change_the_scheme_of_a_contest_in_marking(bob: User, dana: User, client_for: ClientFor) -> None:
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


def test_without_an_active_version_marks_stay_drafts(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=2)
    scheme = MarkingScheme.objects.get()
    scheme_retire(scheme=scheme, by=bob, based_on=scheme.row_version)
    task = claimed(problem, bob)
    with pytest.raises(NotReady, match="has no active version"):
        sealed(task, bob, ("points", {"points": 7}))
    assert draft_of(task, bob).scheme_version is None, "the draft was started without a version"
    written(problem, bob, CHEAPER)
    scheme.refresh_from_db()
    scheme_active(bob, scheme)
    mark = sealed(task, bob, ("points", {"points": 0}))
    assert mark.scheme_version == scheme.versions.get(number=2)


def test_the_marking_setup_keeps_a_retired_scheme(bob: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob)
    scheme = MarkingScheme.objects.get()
    address = f"/marking/problem/{problem.public_id}/setup/"
    client = client_for(bob)
    assert "was retired" not in client.get(address).content.decode()
    scheme_retire(scheme=scheme, by=bob, based_on=scheme.row_version)
    page = client.get(address)
    assert "was retired" in page.content.decode()
    form = page.context["form"]
    assert form["scheme"].value() == scheme.pk
    kept = {name: form[name].value() for name in ("scheme", "markers", "unrevealed_percent")}
    assert client.post(address, kept | {"remark_percent": 20}).status_code == 302
    setup = MarkingSetup.objects.get()
    assert [setup.scheme, setup.remark_percent] == [scheme, 20]


def test_a_retired_scheme_cannot_be_chosen(bob: User) -> None:
    problem = problem_to_mark(bob)
    chosen, other = MarkingScheme.objects.get(), scheme_active(bob, make_scheme(bob, problem.problem))
    scheme_retire(scheme=other, by=bob, based_on=other.row_version)
    with pytest.raises(SetupRefused, match="no active version"):
        setup_save(problem=problem, choices=Choices(scheme=other), by=bob)
    assert MarkingSetup.objects.get().scheme == chosen


def test_every_coach_can_change_a_scheme_that_no_contest_in_marking_uses(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana)
    contest = problem.contest
    contest_move(contest=contest, verb="close", based_on=contest.row_version)
    scheme = MarkingScheme.objects.get()
    scheme_retire(scheme=scheme, by=marker("eve"), based_on=scheme.row_version)
    other = make_scheme(bob, problem.problem)
    assert other.versions.get().status == "draft"


def test_the_point_step_is_fixed_once_a_mark_is_sealed(bob: User) -> None:
    problem = problem_to_mark(bob)
    contest = problem.contest
    contest = contest_save(contest=contest, settings=settings("0.5"), based_on=contest.row_version)
    task = claimed(problem, bob)
    contest = contest_save(contest=contest, settings=settings("1"), based_on=contest.row_version)
    sealed(task, bob)
    with pytest.raises(ContestRefused, match="after marks were sealed"):
        contest_save(contest=contest, settings=settings("0.5"), based_on=contest.row_version)
    assert contest_save(contest=contest, settings=settings("1"), based_on=contest.row_version).title == "Another title"


def settings(step: str) -> Settings:
    return Settings(title="Another title", point_step=step)
