"""The addresses of the workspace: what each answers, as JSON and as a form, to whom, and what it refuses."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem, ContestState
from apps.contests.services import contest_move
from apps.marks.models import Mark, MarkingTask, MarkState, Pass, PassReason
from apps.marks.selectors import PANES
from tests.contests.factory import enter, make_contest, moved
from tests.marks.factory import claimed, commanded, problem_to_mark, sealed
from tests.schemes.factory import make_scheme

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    return problem_to_mark(bob, dana, scripts=3)


@pytest.fixture
def task(problem: ContestProblem, bob: User) -> MarkingTask:
    return claimed(problem, bob)


def sent(client: Client, task: MarkingTask, name: str, **body: Any) -> Any:
    """A POST as the workspace sends it."""
    url = reverse(f"marks:{name}", kwargs={"task_id": task.public_id})
    return client.post(url, json.dumps(body), content_type="application/json")


def command(client: Client, task: MarkingTask, row_version: int, verb: str, **args: Any) -> Any:
    return sent(client, task, "command", id=str(uuid.uuid4()), verb=verb, args=args, row_version=row_version)


def test_a_script_is_marked_from_claim_to_the_next(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    page = client.post(reverse("marks:next", kwargs={"problem_id": problem.public_id}), follow=True)
    assert page.status_code == 200
    task = MarkingTask.objects.get(assignee=bob)
    assert task.case.version.submission.paper.number in page.content.decode()
    answer = command(client, task, 0, "claim", line="A1 A2")
    assert answer.json() | {"saved_at": ""} == {
        "row_version": 1, "points": "7", "computed": "7", "derivation": "Chain A: A1 3 + A2 4 = 7; cap 5 inactive; −0",
        "band": None, "first_error": None, "needs": [], "can_undo": True, "can_redo": False, "saved_at": "",
        "is_sealed": False, "undo_until": None, "sheet": answer.json()["sheet"],
    }  # fmt: skip
    done = sent(client, task, "seal", row_version=1, active_seconds=4.5).json()
    assert done["sealed"] is True
    following = MarkingTask.objects.get(assignee=bob, done_at=None)
    assert done["next"] == reverse("marks:task", kwargs={"task_id": following.public_id})
    assert done["undo_until"]
    assert client.get(done["next"]).status_code == 200
    assert client.get(reverse("marks:task", kwargs={"task_id": task.public_id})).status_code == 200


def test_undo_redo_and_unseal_answer_with_the_sheet(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    command(client, task, 0, "points", points=7)
    assert sent(client, task, "undo", row_version=1).json()["sheet"]["typed"] is None
    assert sent(client, task, "redo", row_version=2).json()["sheet"]["typed"] == "7"
    assert sent(client, task, "seal", row_version=3).status_code == 200
    opened = sent(client, task, "unseal").json()
    assert (opened["is_sealed"], opened["row_version"]) == (False, 5)
    assert sent(client, task, "unseal").status_code == 422


def test_a_window_that_is_behind_is_told_what_differs(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    command(client, task, 0, "points", points=7)
    late = command(client, task, 0, "points", points=2)
    assert late.status_code == 409
    body = late.json()
    assert (body["fields"], body["row_version"], body["sheet"]["typed"]) == (["typed"], 1, "7")


@pytest.mark.parametrize(
    ("verb", "args", "words"),
    [
        ("tick", {"code": "Z9"}, "no item"),
        ("explode", {}, "no command"),
        ("verdict", {"id": "v", "step": 99, "fallacy": "gap"}, "no step 99"),
        ("comment", {"id": "c\0", "step": 1, "words": "Why?"}, "id"),
    ],
)
def test_a_command_that_cannot_be_done_is_told_in_a_sentence(
    verb: str, args: dict[str, Any], words: str, task: MarkingTask, bob: User, client_for: ClientFor
) -> None:
    answer = command(client_for(bob), task, 0, verb, **args)
    assert answer.status_code == 422
    assert words in answer.json()["message"]


NONSENSE = {
    "a list": "[]",
    "no JSON": "nonsense",
    "a zero": "\x00",
    "a number for a verb": '{"verb": 3}',
    "no id": '{"verb": "clear", "row_version": 0}',
    "an odd id": '{"verb": "clear", "args": {}, "id": "x", "row_version": 0}',
    "a list for arguments": '{"verb": "clear", "args": [], "row_version": 0}',
    "a deep hole": '{"a":' * 5000,
    "too long": '{"a": "' + "a" * 100_000 + '"}',
}


@pytest.mark.parametrize("body", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_refused_and_changes_nothing(body: str, task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    url = reverse("marks:command", kwargs={"task_id": task.public_id})
    answer = client_for(bob).post(url, body, content_type="application/json")
    assert answer.status_code == 422
    assert answer.json()["message"]


def test_what_is_missing_is_listed_when_sealing(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    command(client, task, 0, "points", points=6)
    refused = sent(client, task, "seal", row_version=1)
    assert refused.status_code == 422
    assert "at a step" in refused.json()["needs"][0]
    assert refused.json()["state"]["row_version"] == 1
    assert Mark.objects.get().state == MarkState.DRAFT


def test_a_heartbeat_holds_the_script_and_counts_active_seconds(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    assert sent(client, task, "heartbeat", active_seconds=12.5).json()["until"]
    sent(client, task, "heartbeat", active_seconds=3)
    assert Mark.objects.get().active_seconds == 12.5
    odd: object
    for odd in ("many", float("inf"), -5, 10**400, [], {}):
        assert sent(client, task, "heartbeat", active_seconds=odd).status_code in (200, 422)
    assert Mark.objects.get().active_seconds == 12.5


def test_whose_lease_is_gone_is_told_so(task: MarkingTask, bob: User, dana: User, client_for: ClientFor) -> None:
    MarkingTask.objects.filter(pk=task.pk).update(assignee=dana)
    client = client_for(bob)
    names = ("command", "undo", "redo", "seal", "unseal", "heartbeat", "pass")
    answers = [sent(client, task, name, verb="clear", id=str(uuid.uuid4()), row_version=0, reason="skip") for name in names]
    assert {answer.status_code for answer in answers} == {410}
    page = client.get(reverse("marks:task", kwargs={"task_id": task.public_id}))
    assert page.status_code == 410
    assert "Somebody else has this script" in page.content.decode()


def test_handing_on_leads_to_the_next_script(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    done = sent(client, task, "pass", reason="conflict", words="My nephew.")
    assert done.status_code == 200
    assert done.json()["next"] not in (None, reverse("marks:task", kwargs={"task_id": task.public_id}))
    assert Pass.objects.get().reason == PassReason.CONFLICT
    following = MarkingTask.objects.get(assignee=bob)
    assert sent(client, following, "pass", reason="boredom").status_code == 422


def test_the_next_script_is_fetched_ahead_until_there_is_none(
    task: MarkingTask, bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    client = client_for(bob)
    url = reverse("marks:next_up", kwargs={"task_id": task.public_id})
    ahead = client.get(url)
    assert ahead.status_code == 200
    second = MarkingTask.objects.get(assignee=bob, done_at=None, mark__isnull=False)
    assert str(second.public_id) in ahead.content.decode()
    assert "<html" not in ahead.content.decode()
    for other in MarkingTask.objects.exclude(assignee=bob):
        MarkingTask.objects.filter(pk=other.pk).delete()
    sealed(claimed(problem, bob), bob)


def test_nothing_left_is_said_on_a_page(problem: ContestProblem, bob: User, dana: User, client_for: ClientFor) -> None:
    for _ in range(3):
        sealed(claimed(problem, bob), bob)
    page = client_for(bob).post(reverse("marks:next", kwargs={"problem_id": problem.public_id}))
    assert "Nothing left for you" in page.content.decode()
    assert "3 scripts" in page.content.decode()


def test_every_pane_has_its_part(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    wanted = {"scheme": "Finds a smaller solution", "problem": "which primes", "solutions": "Descend from", "source": "pmod 4",
              "comments": "No comment"}  # fmt: skip
    for name in PANES:
        page = client.get(reverse("marks:pane", kwargs={"task_id": task.public_id, "name": name}))
        assert wanted[name] in page.content.decode(), name
    assert client.get(reverse("marks:pane", kwargs={"task_id": task.public_id, "name": "marks"})).status_code == 404


def test_phrases_are_found_by_their_words(problem: ContestProblem, task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    sealed(task, bob, ("points", {"points": 0}), ("comment", {"id": "c", "step": 1, "words": "Which $p$?"}))
    client = client_for(bob)
    url = reverse("marks:phrases", kwargs={"problem_id": problem.public_id})
    assert client.get(url, {"q": "which"}).json() == {"phrases": [{"words": "Which $p$?", "uses": 1}]}
    assert client.get(url, {"q": "never"}).json() == {"phrases": []}


def test_a_form_does_what_a_program_does(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    page = reverse("marks:task", kwargs={"task_id": task.public_id})
    form = {"verb": "points", "points": "7", "row_version": "0"}
    answer = client.post(reverse("marks:command", kwargs={"task_id": task.public_id}), form)
    assert (answer.status_code, answer.headers["Location"]) == (302, page)
    assert Mark.objects.get().sheet["typed"] == "7"
    late = client.post(reverse("marks:command", kwargs={"task_id": task.public_id}), form, follow=True)
    assert "another window" in late.content.decode()
    done = client.post(reverse("marks:seal", kwargs={"task_id": task.public_id}), {"row_version": "1"})
    assert done.status_code == 302
    assert done.headers["Location"] != page


def test_without_the_token_of_its_page_nothing_is_changed(task: MarkingTask, bob: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(bob)
    for name in ("command", "undo", "redo", "seal", "unseal", "heartbeat", "pass"):
        assert sent(client, task, name, verb="clear", id=str(uuid.uuid4()), row_version=0).status_code == 403
    assert client.post(reverse("marks:next", kwargs={"problem_id": task.case.problem.public_id})).status_code == 403


def test_strangers_and_students_get_nothing_and_in_a_closed_contest_nothing_is_marked(
    task: MarkingTask, bob: User, alice: User, charlie: User, client_for: ClientFor
) -> None:
    enter(task.case.problem.contest, charlie)
    for user in (alice, charlie):
        client = client_for(user)
        for name in ("command", "undo", "redo", "seal", "unseal", "heartbeat", "pass"):
            assert sent(client, task, name, verb="clear", id=str(uuid.uuid4()), row_version=0).status_code == 404
        assert client.post(reverse("marks:next", kwargs={"problem_id": task.case.problem.public_id})).status_code == 404
    contest = moved(task.case.problem.contest, ContestState.CLOSED)
    assert command(client_for(bob), task, 0, "clear").status_code == 410
    contest_move(contest=contest, verb="resume", based_on=contest.row_version)
    assert command(client_for(bob), task, 0, "clear").status_code == 200


def test_the_captain_answers_what_markers_ask(problem: ContestProblem, bob: User, dana: User, client_for: ClientFor) -> None:
    task = claimed(problem, dana)
    sent(client_for(dana), task, "pass", reason="approach", words="Is $\\mathbb Z[i]$ chain B?")
    queue = reverse("marks:questions", kwargs={"problem_id": problem.public_id})
    assert client_for(dana).get(queue).status_code == 404
    client = client_for(bob)
    assert "mathbb" in client.get(queue).content.decode()
    answer = reverse("marks:question_answer", kwargs={"pass_id": Pass.objects.get().pk})
    assert client_for(dana).post(answer, {"answer": "Yes."}).status_code == 404
    assert "between one and" in client.post(answer, {"answer": " "}, follow=True).content.decode()
    client.post(answer, {"answer": "Yes, all 7."})
    page = client_for(dana).get(reverse("marks:task", kwargs={"task_id": task.public_id})).content.decode()
    assert "Yes, all 7." in page


def test_an_organiser_chooses_how_a_problem_is_marked(bob: User, dana: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    contest.coaches.create(person=dana)
    problem = moved(contest, ContestState.MARKING).problems.get()
    make_scheme(bob, problem.problem)  # A draft: nothing to mark with yet.
    start = reverse("marks:next", kwargs={"problem_id": problem.public_id})
    assert "yet to choose" in client_for(dana).post(start, follow=True).content.decode()
    url = reverse("marks:setup", kwargs={"problem_id": problem.public_id})
    assert client_for(dana).get(url).status_code == 404
    client = client_for(bob)
    assert client.get(url).status_code == 200
    values = {"scheme": "", "markers": "2", "unrevealed_percent": "20", "remark_percent": "0", "asks_place": "on"}
    assert client.post(url, values | {"unrevealed_percent": "120"}).status_code == 422
    assert client.post(url, values).status_code == 302
    problem.refresh_from_db()
    assert (problem.setup.markers, problem.setup.scheme, problem.setup.unrevealed_percent) == (2, None, 20)


def test_a_heartbeat_tells_who_else_marks_the_problem_and_nothing_of_what_they_do(
    bob: User, dana: User, client_for: ClientFor
) -> None:
    problem = problem_to_mark(bob, dana, scripts=3)
    task, other = claimed(problem, bob), claimed(problem, dana)
    commanded(other, dana, "points", points=5)
    answer = sent(client_for(bob), task, "heartbeat").json()
    assert answer["present"] == [dana.username]
    assert set(answer) == {"until", "present"}
    page = client_for(bob).get(reverse("marks:task", kwargs={"task_id": task.public_id})).content.decode()
    assert f'data-part="present-names">{dana.username}</span>' in page
    assert other.case.version.submission.paper.number not in page
    sealed(other, dana)
    assert sent(client_for(bob), task, "heartbeat").json()["present"] == []
