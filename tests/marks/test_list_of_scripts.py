"""The list of scripts: filters over one's own marks, and nothing of a colleague's."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import Mark, PassReason
from apps.marks.passes import task_pass
from apps.marks.scripts import FILTERS, script_page
from tests.marks.factory import ONE_PLACE, claimed, problem_to_mark, sealed

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """Of six scripts Bob has sealed three, of which one is in the middle; one he asks about, one is Dana's."""
    problem = problem_to_mark(bob, dana, scripts=6)
    problem.captain = dana
    problem.save()
    middle = (("points", {"points": 4}), ("approach", {"words": "Lattices."}), ("verdict", ONE_PLACE))
    for number, commands in enumerate(((), middle, ()), start=1):
        mark = sealed(claimed(problem, bob), bob, *commands)
        Mark.objects.filter(pk=mark.pk).update(active_seconds=10 if number < 3 else 90)
    task_pass(task=claimed(problem, bob), user=bob, reason=PassReason.UNSURE)
    sealed(claimed(problem, dana), dana, ("points", {"points": 2}), ("verdict", ONE_PLACE))
    return problem


@pytest.mark.parametrize(
    ("shown", "count"),
    [("all", 6), ("waiting", 2), ("mine", 3), ("middle", 1), ("approach", 1), ("asked", 1), ("slow", 1), ("nonsense", 6)],
)
def test_each_filter_shows_its_scripts(shown: str, count: int, problem: ContestProblem, bob: User) -> None:
    page, rows = script_page(problem, bob, shown, 1)
    assert page.paginator.count == len(rows) == count


def test_points_are_ones_own_and_nobody_elses(problem: ContestProblem, bob: User, dana: User) -> None:
    _, rows = script_page(problem, bob, "all", 1)
    assert sorted(row.points for row in rows) == ["", "", "", "4", "7", "7"]
    assert {row.state for row in rows} == {"Sealed by you", "with you", "waiting", "marked by others"}
    assert [row.first_error for row in rows if row.points == "4"] == [1]
    _, rows = script_page(problem, dana, "mine", 1)
    assert [row.points for row in rows] == ["2"]


def test_scripts_come_by_number(problem: ContestProblem, bob: User) -> None:
    numbers = [row.case.version.submission.paper.number for row in script_page(problem, bob, "all", 1)[1]]
    assert numbers == sorted(numbers)


def test_the_page_has_all_filters_and_takes_any_address(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    url = reverse("marks:script_list", kwargs={"problem_id": problem.public_id})
    for query in ({}, *({"show": name} for name in FILTERS), {"show": "<b>", "page": "-1"}, {"page": "zz"}):
        page = client_for(bob).get(url, query)
        assert page.status_code == 200
        assert "<b>" not in page.content.decode()
