"""Statistics cover settled scripts only, match figures computed by hand, and are for captains and organisers."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.contests.services import captain_set
from apps.marks.models import Mark
from apps.marks.office.charts import problem_charts
from apps.marks.office.statistics import ProblemFigures, figures
from apps.marks.sealing.sealing import cases_settle
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, sealed

ClientFor = Callable[[User | None], Client]
LINES = ("A1 A2", "A1 A2", "A1", "A1", "-D1", "B1")  # 7, 7, 3, 3, 0, 7


def marked(problem: ContestProblem, by: User, lines: tuple[str, ...] = LINES, seconds: float = 60) -> None:
    """Seal marks with these claims a minute ago."""
    for line in lines:
        mark = past_grace(sealed(claimed(problem, by), by, ("claim", {"line": line}), ("reason", {"words": "So."})))
        Mark.objects.filter(pk=mark.pk).update(active_seconds=seconds)
    cases_settle(problem.contest)


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    return problem_to_mark(bob, scripts=7, asks_place=False)


def found_of(problem: ContestProblem) -> ProblemFigures:
    return figures([problem])[0]


def test_figures_of_a_problem_match_those_computed_by_hand(problem: ContestProblem, bob: User) -> None:
    marked(problem, bob)
    found = found_of(problem)
    assert (found.scripts, found.graded, found.full, found.zero) == (7, 6, 3, 1)
    assert found.points == {Decimal(7): 3, Decimal(3): 2, Decimal(0): 1}
    assert found.mean == pytest.approx(27 / 6)
    assert found.difficulty == pytest.approx(27 / 42)
    first = next(item for item in found.items if item.code == "A1")
    assert first.ticked == 4
    assert first.share == pytest.approx(4 / 6)
    assert (first.mean_with, first.mean_without, first.difference) == (None, None, None), "too few scripts for a mean"


def test_an_item_has_a_difference_of_means_with_five_scripts_on_both_sides(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=10, asks_place=False)
    marked(problem, bob, ("A1 A2",) * 4 + ("A1",) + ("-D1",) * 4 + ("B1",))
    first = next(item for item in found_of(problem).items if item.code == "A1")
    assert first.mean_with == pytest.approx(31 / 5)
    assert first.mean_without == pytest.approx(7 / 5)
    assert first.difference == pytest.approx(24 / 5)


def test_few_scripts_have_no_means(problem: ContestProblem, bob: User) -> None:
    marked(problem, bob, LINES[:4])
    found = found_of(problem)
    assert (found.graded, found.mean, found.spread, found.rest) == (4, None, None, None)
    assert all(item.mean_with is None for item in found.items)
    assert found.markers[0].mean is None


def test_an_unsettled_script_is_not_counted(problem: ContestProblem, bob: User) -> None:
    marked(problem, bob, LINES[:5])
    sealed(claimed(problem, bob), bob, ("points", {"points": 7}))
    found = found_of(problem)
    assert found.graded == 5
    assert found.markers[0].marks == 5


def test_severity_compares_marks_of_the_same_scripts(bob: User) -> None:
    dana = marker("dana two")
    problem = problem_to_mark(bob, dana, scripts=5, markers=2, asks_place=False)
    for _ in range(5):
        for person, points in ((bob, 3), (dana, 3)):
            past_grace(sealed(claimed(problem, person), person, ("points", {"points": points}), ("reason", {"words": "So."})))
    cases_settle(problem.contest)
    rows = {row.marker: row for row in found_of(problem).markers}
    assert (rows[bob].pairs, rows[bob].severity, rows[dana].severity) == (5, 0, 0)


def test_marks_with_visible_suggestions_are_left_out(problem: ContestProblem, bob: User) -> None:
    marked(problem, bob)
    Mark.objects.filter(sealed_points=3).update(is_assisted=True)
    assert found_of(problem).markers[0].marks == 4


def test_time_and_drift_follow_the_markers_order(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=10, asks_place=False)
    marked(problem, bob, ("A1 A2",) * 5 + ("-D1",) * 5, seconds=90)
    (row,) = found_of(problem).markers
    assert (row.seconds, row.drift) == (90, -7)
    assert sorted(point.order for point in found_of(problem).times) == list(range(1, 11))


def test_charts_show_the_figures(problem: ContestProblem, bob: User) -> None:
    marked(problem, bob)
    charts = problem_charts(found_of(problem))
    assert list(charts) == ["points", "shares", "times"]
    assert list(charts["points"]["data"][0]["x"]) == [0.0, 3.0, 7.0]
    assert list(charts["points"]["data"][0]["y"]) == [1, 2, 3]


def test_captains_see_statistics_of_their_problem_and_markers_do_not(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    other = marker("erin")
    from apps.contests.services import coach_add

    coach_add(contest=problem.contest, person=other)
    address = reverse("office:statistics", args=[problem.contest.public_id])
    data = reverse("office:statistics_data", args=[problem.contest.public_id, problem.public_id])
    assert client_for(bob).get(address).status_code == 200
    assert client_for(other).get(address).status_code == 404
    assert client_for(other).get(data).status_code == 404
    captain_set(row=problem, captain=other)
    assert client_for(other).get(address).status_code == 200
    assert set(client_for(other).get(data).json()) == {"points", "shares", "times"}
    assert client_for(other).get(reverse("office:results", args=[problem.contest.public_id])).status_code == 404
    assert client_for(other).get(reverse("office:record", args=[problem.contest.public_id])).status_code == 404
