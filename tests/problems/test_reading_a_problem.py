"""The page of a problem, which hides solutions from students."""

from collections.abc import Callable

from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.runs.models import Run
from tests.problems.factory import ANSWER, SCHEME, SECRET, make_problem

ClientFor = Callable[[User | None], Client]


def test_a_coach_reads_statement_solutions_and_scheme(client_for: ClientFor, bob: User) -> None:
    problem = make_problem()
    page = client_for(bob).get(f"/problems/{problem.slug}/").content.decode()
    for words in ("which primes", "Fermat", "1640", SECRET, "Descent", ANSWER, SCHEME, "Explore"):
        assert words in page


def test_a_student_reads_the_statement_only(client_for: ClientFor, charlie: User) -> None:
    problem = make_problem()
    client = client_for(charlie)
    page = client.get(f"/problems/{problem.slug}/").content.decode()
    assert "which primes" in page
    for words in (SECRET, "Descent", "Gaussian", ANSWER, SCHEME, "Explore", "Edit", "Runs"):
        assert words not in page
    for path in (f"/problems/{problem.slug}/edit/", "/problems/new/", "/problems/import/", "/problems/export/?format=csv"):
        assert client.get(path).status_code == 404


def test_a_student_cannot_write_by_posting(client_for: ClientFor, charlie: User) -> None:
    problem = make_problem()
    for path in (f"/problems/{problem.slug}/edit/", "/problems/new/", "/problems/import/", "/problems/preview/"):
        assert client_for(charlie).post(path, {"title": "x"}).status_code == 404


def test_staff_read_solutions_whatever_their_role(client_for: ClientFor, charlie: User) -> None:
    charlie.is_staff = True
    charlie.save()
    page = client_for(charlie).get(f"/problems/{make_problem().slug}/").content.decode()
    assert SECRET in page
    assert "Explore" not in page


def test_an_older_version_has_a_url_and_a_notice(client_for: ClientFor, bob: User) -> None:
    problem = make_problem()
    problem.versions.create(number=2, statement="The newer text.")
    client = client_for(bob)
    old = client.get(f"/problems/{problem.slug}/?version=1").content.decode()
    assert "which primes" in old
    assert "version 1 of 2" in old
    assert "The newer text." in client.get(f"/problems/{problem.slug}/").content.decode()
    for number in ("3", "0", "x", "9999999999", "-1"):
        assert client.get(f"/problems/{problem.slug}/?version={number}").status_code == 404


def test_runs_on_any_version_are_counted_and_linked(client_for: ClientFor, bob: User) -> None:
    problem = make_problem()
    later = problem.versions.create(number=2, statement="The newer text.")
    for version in (problem.versions.get(number=1), later, later):
        Run.objects.create(title=problem.title, problem_version=version, scaffold="x", spec={})
    response = client_for(bob).get(f"/problems/{problem.slug}/")
    assert response.context["runs"] == 3
    assert b"/runs/?problem=" in response.content


def test_scripts_in_a_problem_are_escaped(client_for: ClientFor, bob: User) -> None:
    bad = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    problem = make_problem(title=f"T {bad}", statement=bad, source=bad, scheme_text=bad)
    page = client_for(bob).get(f"/problems/{problem.slug}/").content
    assert b"<script>alert" not in page
    assert b"<img" not in page


def test_the_page_takes_few_queries(
    client_for: ClientFor, bob: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    problem, client = make_problem(), client_for(bob)
    with django_assert_max_num_queries(8):
        client.get(f"/problems/{problem.slug}/")
