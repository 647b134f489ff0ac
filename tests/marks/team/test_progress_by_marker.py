"""Progress by marker: counts, pace of active time, and the distance from calibration, never an order by merit."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.marks.models import Mark
from apps.marks.team.assigning import Share, scripts_assign
from apps.marks.team.progress import distance_of, progress_of
from tests.marks.factory import claimed, problem_to_mark, sealed


def test_the_page_counts_what_is_assigned_in_hand_and_done(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=4)
    scripts_assign(problem=problem, markers=[dana], share=Share(), by=bob)
    mark = sealed(claimed(problem, dana), dana)
    Mark.objects.filter(pk=mark.pk).update(active_seconds=120)
    claimed(problem, dana)
    found = progress_of(problem, shows_points=True)
    row = next(one for one in found.markers if one.marker == dana)
    assert (row.assigned, row.to_do, row.in_hand, row.done) == (4, 3, 1, 1)
    assert row.pace == pytest.approx(30)
    assert row.seconds == 120
    assert [one.marker.username for one in found.markers] == ["bob", "dana"]
    assert next(one for one in found.markers if one.marker == bob).pace is None


def test_a_distance_needs_five_scripts_and_its_halves_ten() -> None:
    assert distance_of([1.0] * 4).mean is None
    assert distance_of([1.0, -1, 1, 1, 0]).mean == pytest.approx(0.4)
    assert distance_of([1.0] * 9).later is None
    long = distance_of([0.0] * 5 + [1.0] * 5)
    assert (long.earlier, long.later, long.scripts) == (0, 1, 10)


def test_the_distance_is_hidden_while_an_own_mark_is_open(bob: User, dana: User, client: Client) -> None:
    problem = problem_to_mark(bob, dana, scripts=2)
    client.force_login(bob)
    page = f"/office/{problem.contest.public_id}/team/"
    assert "no calibration script" in client.get(page).content.decode()
    claimed(problem, bob)
    answer = client.get(page).content.decode()
    assert "no calibration script" not in answer
    assert "not shown" in answer
