"""Problems of an imported set stay outside the library until a user adds them."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.contests.forms import ProblemForm
from apps.contests.models import Contest
from apps.problems.models import Problem
from tests.experiments.test_sets_are_imported import OURS, imported, uploaded
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def unlisted() -> Problem:
    """A problem of an imported set, with one in the library."""
    make_problem("In the library")
    script = imported(uploaded(OURS | {"problem": "Of a set", "statement": "Prove that $2>1$."})).scripts.get()
    assert script.problem is not None
    return script.problem.problem


def test_lists_exports_and_forms_include_only_the_library(unlisted: Problem, alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    assert [row.title for row in client.get("/problems/").context["page"].object_list] == ["In the library"]
    home = client.get("/").context
    assert ([row.title for row in home["problems"]], home["problem_count"]) == (["In the library"], 1)
    exported = client.get("/problems/export/").content.decode()
    assert "In the library" in exported
    assert "Of a set" not in exported
    contest = Contest.objects.create(title="A contest", created_by=alice)
    offered = str(ProblemForm(contest, alice)["problem"])
    assert "In the library" in offered
    assert "Of a set" not in offered


def test_readers_of_solutions_find_it_through_the_list(unlisted: Problem, alice: User, client_for: ClientFor) -> None:
    client = client_for(alice)
    assert '<a href="?of_sets=1">1 more outside the library</a>' in client.get("/problems/").content.decode()
    assert [row.title for row in client.get("/problems/?of_sets=1").context["page"].object_list] == ["Of a set"]
    assert "is not in the library" in client.get(f"/problems/{unlisted.slug}/").content.decode()


def test_a_student_cannot_see_or_open_it(unlisted: Problem, charlie: User, client_for: ClientFor) -> None:
    client = client_for(charlie)
    assert client.get("/problems/?of_sets=1").context["page"].paginator.count == 0
    assert "outside the library</a>" not in client.get("/problems/").content.decode()
    assert client.get(f"/problems/{unlisted.slug}/").status_code == 404
    assert client.post(f"/problems/{unlisted.slug}/listed/", {"is_listed": "1"}).status_code == 404


@pytest.mark.usefixtures("unlisted")
def test_buttons_add_it_to_the_library_and_remove_it(alice: User, charlie: User, client_for: ClientFor) -> None:
    client, address = client_for(alice), "/problems/of-a-set/"
    page = client.post(f"{address}listed/", {"is_listed": "1"}, follow=True).content.decode()
    assert "The problem is in the library." in page
    assert client_for(charlie).get(address).status_code == 200
    page = client.post(f"{address}listed/", {"is_listed": "0"}, follow=True).content.decode()
    assert "no longer in the library" in page
    assert client_for(charlie).get(address).status_code == 404


def test_a_known_problem_stays_in_the_library(unlisted: Problem) -> None:
    known = make_problem("Known")
    script = imported(uploaded(OURS | {"statement": known.current.statement})).scripts.get()
    assert script.problem is not None
    assert script.problem.problem.is_listed
