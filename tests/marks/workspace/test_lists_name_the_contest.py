"""Lists over several contests name the contest of each script and the time of sealing."""

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from tests.marks.suggested import sealed_mark

ClientFor = Callable[[User | None], Client]


def test_sealed_marks_and_calibration_are_grouped_by_contest(bob: User, client_for: ClientFor) -> None:
    mark = sealed_mark(bob)
    contest, client = mark.task.case.problem.contest, client_for(bob)
    sealed = client.get(reverse("marks:sealed_list")).content.decode()
    assert f"<td>{contest.title}</td>" in sealed
    assert mark.sealed_at is not None
    assert mark.sealed_at.strftime("%Y-%m-%d") in sealed
    lists = client.get(reverse("marks:coordination_list")).content.decode()
    assert f"<li>{contest.title}: <a href=" in lists
