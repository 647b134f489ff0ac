"""A script in marking is not graded as a pasted text, as its marker would no longer judge independently."""

import uuid
from collections.abc import Callable

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.marks.models import CaseState, MarkingCase
from apps.problems.models import Problem
from apps.runs.models import Run
from tests.graders.grade import SCRIPT
from tests.grading import suggesting as played
from tests.grading.suggesting import Model, problem_with
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
model = played.model


@pytest.fixture(autouse=True)
def unsent(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.runs.services.orchestrate", type("Sent", (), {"delay": staticmethod(lambda _: None)}))


def sent(client: Client, problem: Problem, script: str) -> str:
    data = {"workflow": "single_turn", "alias": "served", "script": script, "start_id": str(uuid.uuid4())}
    return client.post(reverse("graders:start", args=[problem.slug]), data).content.decode()


MORE = "".join(f"\n\nSome more words of another author, {number} of many." for number in range(9))


@pytest.mark.parametrize("script", [SCRIPT, f"  {SCRIPT}\n\nSome more words of another author.", SCRIPT + MORE])
def test_a_coach_of_its_contest_can_have_it_graded_only_after_it_is_settled(
    bob: User, client_for: ClientFor, script: str, settings: LazySettings
) -> None:
    contest = problem_with(bob).contest
    client, problem = client_for(bob), make_problem("Another one")
    assert "it is not settled yet" in sent(client, problem, script)
    assert not Run.objects.exists()
    MarkingCase.objects.filter(problem__contest=contest).update(state=CaseState.SETTLED)
    sent(client, problem, script)
    assert Run.objects.count() == 1


def test_other_texts_and_users_outside_the_contest_are_not_restricted(alice: User, bob: User, client_for: ClientFor) -> None:
    problem_with(bob)
    problem = make_problem("Another one")
    sent(client_for(bob), problem, f"Quite another proof.\n\nIt has three steps.\n\n{SCRIPT.splitlines()[0]}")
    sent(client_for(alice), problem, SCRIPT)
    assert Run.objects.count() == 2
