"""A colleague's question about a script does not bypass blind marking for captains and organisers who mark too."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.contests.services import coach_add
from apps.marks.models import MarkingTask, Pass, Reveal, RevealKind, Slot
from apps.marks.workspace.claims import task_next
from apps.marks.workspace.passes import task_pass
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, sealed

ClientFor = Callable[[User | None], Client]
WORDS = "Colleagueword: does A2 hold without the descent?"


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """Create one script for two markers; Bob is captain and organiser, Eve a second organiser."""
    problem = problem_to_mark(bob, dana, scripts=1, markers=2)
    coach_add(contest=problem.contest, person=marker("eve"), is_organiser=True)
    return problem


def asked_by(user: User, problem: ContestProblem) -> Pass:
    return task_pass(task=claimed(problem, user), user=user, reason="unsure", words=WORDS)


def listed(client: Client, problem: ContestProblem) -> str:
    return client.get(reverse("marks:questions", args=[problem.public_id])).content.decode()


def answer_to(question: Pass) -> str:
    return reverse("marks:question_answer", args=[question.pk])


def test_a_marker_neither_reads_nor_answers_a_question_about_the_own_script(
    problem: ContestProblem, bob: User, dana: User, client_for: ClientFor
) -> None:
    task = claimed(problem, bob)
    question = asked_by(dana, problem)
    client = client_for(bob)
    assert WORDS not in listed(client, problem)
    assert "1 question" not in client.get(reverse("marks:home")).content.decode()
    assert client.post(answer_to(question), {"answer": "Yes."}).status_code == 404
    mark = sealed(task, bob)
    assert WORDS not in listed(client, problem), "the mark can be reopened"
    assert not Reveal.objects.exists()
    past_grace(mark)
    assert WORDS in listed(client, problem)
    assert client.post(answer_to(question), {"answer": "Yes."}).status_code == 302
    question.refresh_from_db()
    assert question.answered_by == bob


def test_another_organiser_can_answer_in_the_meantime(
    problem: ContestProblem, bob: User, dana: User, client_for: ClientFor
) -> None:
    claimed(problem, bob)
    question = asked_by(dana, problem)
    client = client_for(marker("eve"))
    assert "1 question" in client.get(reverse("marks:home")).content.decode()
    assert WORDS in listed(client, problem)
    assert client.post(answer_to(question), {"answer": "Yes."}).status_code == 302
    assert claimed(problem, dana) == question.task


def test_a_reader_of_a_question_does_not_get_the_script(
    problem: ContestProblem, bob: User, dana: User, client_for: ClientFor
) -> None:
    asked_by(dana, problem)
    client = client_for(bob)
    for _ in range(2):
        assert WORDS in listed(client, problem)
    assert Reveal.objects.get().kind == RevealKind.QUESTION
    assert task_next(problem, bob) is None, "Bob has read the script with a marker's words"
    assert task_next(problem, marker("eve")) is not None, "Eve has not read them"
    assert MarkingTask.objects.filter(slot=Slot.SECOND).exists()


def test_a_marker_can_read_and_answer_their_own_question(problem: ContestProblem, dana: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    question = asked_by(eve, problem)
    assert WORDS in listed(client_for(eve), problem)
    assert not Reveal.objects.exists()
    client_for(eve).post(answer_to(question), {"answer": "I decide it."})
    assert claimed(problem, eve) == question.task


def test_a_pass_without_a_question_has_no_answer(problem: ContestProblem, bob: User, dana: User, client_for: ClientFor) -> None:
    task_pass(task=claimed(problem, dana), user=dana, reason="skip")
    assert client_for(bob).post(answer_to(Pass.objects.get()), {"answer": "Yes."}).status_code == 404
