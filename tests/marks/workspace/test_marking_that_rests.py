"""When marking ends during a mark, the marker reads it and loses nothing; a former coach gets no information."""

import uuid
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.services import coach_add, coach_remove, contest_move
from apps.marks.models import Mark, MarkingTask
from tests.marks.factory import claimed, problem_to_mark
from tests.marks.workspace.test_workspace_addresses import command, sent

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def task(bob: User) -> MarkingTask:
    return claimed(problem_to_mark(bob, scripts=2), bob)


@pytest.mark.parametrize(("verb", "words"), [("reopen", "The contest is open now."), ("close", "The contest is closed now.")])
def test_a_marker_reads_that_marking_ended_and_keeps_the_draft(
    task: MarkingTask, bob: User, client_for: ClientFor, verb: str, words: str
) -> None:
    client = client_for(bob)
    command(client, task, 0, "points", points=6)
    contest = task.case.problem.contest
    contest_move(contest=contest, verb=verb, based_on=contest.row_version, by=bob)
    names = ("command", "undo", "seal", "heartbeat", "pass")
    answers = [sent(client, task, name, verb="clear", id=str(uuid.uuid4()), row_version=1, reason="skip") for name in names]
    assert {answer.status_code for answer in answers} == {410}
    assert {answer.json()["message"] for answer in answers} == {f"{words} Your saved draft is kept."}
    page = client.get(reverse("marks:task", kwargs={"task_id": task.public_id}))
    assert page.status_code == 410
    assert "This contest is not being marked" in page.content.decode()
    assert Mark.objects.get().sheet["typed"] == "6"


def test_a_former_coach_gets_404(task: MarkingTask, bob: User, dana: User, client_for: ClientFor) -> None:
    contest = task.case.problem.contest
    coach_add(contest=contest, person=dana, is_organiser=True)
    coach_remove(coach=contest.coaches.get(person=bob))
    assert sent(client_for(bob), task, "heartbeat", active_seconds=1).status_code == 404
