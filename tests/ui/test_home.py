"""The home page by role."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.config.home.content import SPARK_HEIGHT, spark_bars
from apps.lemmas.models import Lemma
from apps.problems.models import Problem, ProblemVersion, Topic
from apps.runs.models import Run, RunStatus


def _run(owner: User | None, title: str, status: RunStatus) -> Run:
    problem, _ = Problem.objects.get_or_create(slug="p", defaults={"title": "Two squares", "topic": Topic.NUMBER_THEORY})
    version, _ = ProblemVersion.objects.get_or_create(problem=problem, number=1, defaults={"statement": "Prove it."})
    return Run.objects.create(
        title=title, problem_version=version, owner=owner, scaffold="intern_s1_mo", spec={}, status=status
    )


def _page(client: Client) -> str:
    return client.get(reverse("home")).content.decode()


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_researchers_and_coaches_see_running_and_recent_runs(
    name: str, client_for: Callable[[User | None], Client], alice: User, bob: User
) -> None:
    _run(alice, "A run under way", RunStatus.QUEUED)
    _run(alice, "A run that ended", RunStatus.FINISHED)
    page = _page(client_for({"alice": alice, "bob": bob}[name]))
    assert page.index("A run under way") < page.index("A run that ended")


def test_a_student_sees_problems_and_no_runs(client_for: Callable[[User | None], Client], alice: User, charlie: User) -> None:
    _run(alice, "A run under way", RunStatus.QUEUED)
    page = _page(client_for(charlie))
    assert "Two squares" in page
    assert "A run under way" not in page
    assert "worked example" not in page


def test_an_empty_home_page_explains_the_first_step(client_for: Callable[[User | None], Client], alice: User) -> None:
    assert "No exploration has been started yet" in _page(client_for(alice))


def test_a_title_is_shown_as_text(client_for: Callable[[User | None], Client], alice: User) -> None:
    _run(alice, "<script>alert(1)</script>", RunStatus.FINISHED)
    assert "<script>alert" not in _page(client_for(alice))


def test_runs_without_an_owner_are_shown(client_for: Callable[[User | None], Client], alice: User) -> None:
    _run(None, "From the command line", RunStatus.QUEUED)
    _run(None, "Ended there", RunStatus.FINISHED)
    page = _page(client_for(alice))
    assert "From the command line" in page
    assert "Ended there" in page


def test_more_ended_runs_cost_no_more_queries(
    client_for: Callable[[User | None], Client], alice: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(8):
        _run(alice, f"Run {number}", RunStatus.FINISHED)
    client = client_for(alice)
    with django_assert_max_num_queries(10):
        _page(client)


def test_bars_fill_the_height_and_zero_has_none() -> None:
    bars = spark_bars([0, 5, 10])
    assert [bar.height for bar in bars] == [0, SPARK_HEIGHT / 2, SPARK_HEIGHT]
    assert spark_bars([]) == []


def test_an_ended_run_shows_its_outcome_and_counts_a_merged_lemma_once(
    client_for: Callable[[User | None], Client], alice: User
) -> None:
    run = _run(alice, "It ended", RunStatus.FINISHED)
    Run.objects.filter(pk=run.pk).update(
        outcome={"accepted": False, "reason": "One vote found a gap.", "ended_by": "exhausted"}
    )
    places = {"rollout": 0, "round": 1, "statement": "x", "first_seq": 1, "last_seq": 2}
    Lemma.objects.create(run=run, lemma="s0.1", number=1, **places)
    Lemma.objects.create(run=run, lemma="s0.2", number=2, merged_into="s0.1", status="merged", **places)
    page = _page(client_for(alice))
    assert "not accepted" in page
    assert "1 lemma<" in page
