"""Statistics of whole papers: bars of whole totals, correlations computed by hand, whole ticks, and words for each chart."""

import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem, Paper
from apps.contests.services import captain_set, coach_add
from apps.marks.office.charts import total_charts, total_words
from apps.marks.office.office import ResultCell, ResultList, ResultRow
from apps.marks.office.totals import bins_of, total_figures
from apps.marks.setups import cases_prepare
from apps.ui.figures import count_axis
from tests.marks.factory import claimed, marker
from tests.marks.office.listed import listed

ClientFor = Callable[[User | None], Client]


def papers(*points: tuple[str | None, ...]) -> ResultList:
    """Make a list of papers with these points; None is a text that is not marked."""
    problems = [ContestProblem(label=str(number + 1)) for number in range(len(points[0]))]
    cells = [[ResultCell(waits=True) if one is None else ResultCell(Decimal(one)) for one in row] for row in points]
    return ResultList(problems, [ResultRow(Paper(number=f"P{place}"), row) for place, row in enumerate(cells)], 0, "")


def test_totals_share_bars_of_whole_width_that_cover_every_total_once() -> None:
    few = bins_of([Decimal(one) for one in (0, 3, 3, 7)])
    assert [(one.words, one.papers) for one in few if one.papers] == [("0", 1), ("3", 2), ("7", 1)]
    many = bins_of([Decimal(one) / 2 for one in range(85)])
    assert len(many) <= 21
    assert (many[0].words, many[0].papers) == ("0–2.5", 6)
    assert sum(one.papers for one in many) == 85
    assert bins_of([]) == []


def test_a_paper_that_is_not_marked_is_in_no_total_and_its_marked_problems_correlate() -> None:
    found = total_figures(papers(("7", "6"), ("0", "1"), ("3", "3"), ("5", "6"), ("1", "0"), ("7", None)))
    assert (found.ranked, found.unranked) == (5, 1)
    assert found.mean == pytest.approx(32 / 5)
    (pair,) = found.pairs
    assert pair.papers == 5
    assert pair.value == pytest.approx(29.8 / (32.8 * 30.8) ** 0.5)


def test_few_papers_have_no_mean_and_equal_points_no_correlation() -> None:
    few = total_figures(papers(("7", "6"), ("0", "1")))
    assert (few.mean, few.middle, few.pairs[0].value) == (None, None, None)
    equal = total_figures(papers(*[("7", str(one)) for one in range(6)]))
    assert equal.pairs[0].value is None
    assert total_charts(equal)["pairs"]["data"][0]["x"] == []


@pytest.mark.parametrize(("most", "step"), [(0, 1), (1, 1), (3, 1), (8, 1), (9, 2), (100, 13)])
def test_an_axis_of_counts_has_whole_ticks(most: int, step: int) -> None:
    assert count_axis("scripts", [most])["dtick"] == step


def test_every_chart_is_also_said_in_words() -> None:
    found = total_figures(papers(("7", "6"), ("0", "1"), ("3", "3"), ("5", "6"), ("1", "0")))
    words = {name: said for name, _, said in total_words(found)}
    assert words.keys() == total_charts(found).keys()
    assert words["totals"] == "Number of papers by total. 1: 2, 6: 1, 11: 1, 13: 1."
    assert "1 and 2: 0.94" in words["pairs"]


def test_a_captain_of_every_problem_sees_no_totals_and_an_organiser_none_while_an_own_mark_is_open(
    bob: User, dana: User, client_for: ClientFor
) -> None:
    problem = listed(bob, unmarked=1)
    contest = problem.contest
    coach_add(contest=contest, person=dana)
    captain_set(row=problem, captain=dana)
    page, data = (reverse(f"office:{name}", args=[contest.public_id]) for name in ("statistics", "totals_data"))
    assert "Whole papers" in client_for(bob).get(page).content.decode()
    assert client_for(bob).get(data).json()["totals"]["layout"]["yaxis"]["dtick"] == 1
    of_captain = client_for(dana).get(page).content.decode()
    assert "Problem 1" in of_captain
    assert "Whole papers" not in of_captain
    assert client_for(dana).get(data).status_code == 404
    cases_prepare(problem)
    claimed(problem, bob)
    assert "Whole papers" not in client_for(bob).get(page).content.decode()
    assert client_for(bob).get(data).status_code == 403
    assert client_for(marker("eve")).get(data).status_code == 404


@pytest.mark.parametrize(("name", "is_organiser"), [("bob", True), ("dana", False)])
def test_every_link_of_the_office_opens_a_page_of_the_reader(
    bob: User, dana: User, client_for: ClientFor, name: str, is_organiser: bool
) -> None:
    problem = listed(bob)
    coach_add(contest=problem.contest, person=dana)
    captain_set(row=problem, captain=dana)
    client = client_for({"bob": bob, "dana": dana}[name])
    page = client.get(reverse("office:statistics", args=[problem.contest.public_id])).content.decode()
    nav = page.split('class="office-nav')[1].split("</nav>")[0]
    links = dict(re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', nav))
    assert {"Statistics", "Ranking"} < set(links.values())
    assert ("Results" in links.values()) == is_organiser
    assert {address: client.get(address).status_code for address in links} == dict.fromkeys(links, 200)
