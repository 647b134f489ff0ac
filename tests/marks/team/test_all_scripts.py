"""The table of papers × problems: states, counts, filters, and what a marker may not see yet."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import MarkingCase
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare
from apps.marks.team.assigning import Share, scripts_assign
from apps.marks.team.matrix import Wanted, matrix_of
from tests.marks.factory import claimed, past_grace, problem_to_mark, script_add, sealed


def states(problem: ContestProblem, shut: set[int] | None = None) -> dict[str, int]:
    found = matrix_of(problem.contest, [problem], shut or set(), Wanted())
    return dict(found.counts[problem.pk])


def test_a_script_moves_from_to_mark_to_settled(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2)
    assert states(problem) == {"waiting": 1}
    past_grace(sealed(claimed(problem, bob), bob))
    assert states(problem) == {"one": 1}
    past_grace(sealed(claimed(problem, dana), dana))
    assert states(problem) == {"two": 1}
    cases_settle(problem.contest)
    assert states(problem) == {"settled": 1}
    MarkingCase.objects.update(state="released")
    assert states(problem) == {"released": 1}


def test_marks_that_differ_are_named_but_not_while_an_own_mark_is_open(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2)
    past_grace(sealed(claimed(problem, bob), bob))
    past_grace(sealed(claimed(problem, dana), dana, ("points", {"points": 6}), ("reason", {"words": "A gap."}), *PLACE))
    cases_settle(problem.contest)
    assert states(problem) == {"differing": 1}
    assert states(problem, {problem.pk}) == {"marked": 1}


PLACE = (("verdict", {"id": "v1", "step": 1, "fallacy": "gap", "words": "Why?"}),)


def test_the_page_filters_by_state_and_by_marker(bob: User, dana: User, client: Client) -> None:
    problem = problem_to_mark(bob, dana, scripts=3)
    known = list(problem.contest.papers.order_by("number").values_list("number", flat=True))
    scripts_assign(problem=problem, markers=[dana], share=Share(last=known[0]), by=bob)
    client.force_login(bob)
    page = f"/office/{problem.contest.public_id}/scripts/"
    assert all(number in client.get(page).content.decode() for number in known)
    of_dana = client.get(page, {"marker": "dana"}).content.decode()
    assert known[0] in of_dana
    assert known[1] not in of_dana
    assert "No script matches" in client.get(page, {"show": "settled"}).content.decode()
    assert client.get(page, {"show": "nonsense", "marker": "stranger"}).status_code == 200


def test_the_table_has_no_points_and_no_name(bob: User, dana: User, client: Client) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    script_add(problem, "Zebulon Quill")
    cases_prepare(problem)
    past_grace(sealed(claimed(problem, dana), dana))
    client.force_login(bob)
    page = client.get(f"/office/{problem.contest.public_id}/scripts/").content.decode()
    assert "settled" in page
    assert "Zebulon" not in page
    client.force_login(dana)
    assert client.get(f"/office/{problem.contest.public_id}/scripts/").status_code == 404


@pytest.mark.parametrize("scripts", [2, 12])
def test_the_number_of_queries_does_not_depend_on_the_number_of_papers(bob: User, scripts: int) -> None:
    problem = problem_to_mark(bob, scripts=scripts)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        matrix_of(problem.contest, [problem], set(), Wanted())
    assert len(queries) == 4
