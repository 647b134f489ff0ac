"""The home page of markers counts the scripts left, the sealed marks and the markers at work."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from tests.marks.factory import claimed, problem_to_mark, sealed

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def test_home_counts_the_scripts_left_and_the_own_marks(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=3)
    sealed(claimed(problem, bob), bob)
    claimed(problem, dana)
    (row,) = client_for(bob).get(reverse("marks:home")).context["rows"]
    (one,) = row.problems
    assert (one.scripts, one.left, one.mine, one.present) == (3, 2, 1, ["dana"])


def test_a_script_with_two_markers_is_left_once_for_each(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=3, markers=2)
    sealed(claimed(problem, bob), bob)
    (row,) = client_for(bob).get(reverse("marks:home")).context["rows"]
    assert (row.problems[0].scripts, row.problems[0].left) == (3, 2)
    (row,) = client_for(dana).get(reverse("marks:home")).context["rows"]
    assert row.problems[0].left == 3
