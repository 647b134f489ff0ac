"""The addresses of the workspace: their JSON and form responses, their permissions and their refusals."""

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
    """Send a POST as the workspace does."""
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
        "row_version": 1, "points": "7", "computed": "7", "derivation": "Chain A: A1 3 + A2 4 = 7; cap 5 inactive",
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


def test_a_stale_window_receives_the_differences(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
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
def test_a_refused_command_returns_a_message(
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
def test_malformed_requests_are_refused(body: str, task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    url = reverse("marks:command", kwargs={"task_id": task.public_id})
    answer = client_for(bob).post(url, body, content_type="application/json")
    assert answer.status_code == 422
    assert answer.json()["message"]


def test_sealing_lists_what_is_missing(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
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


def test_a_marker_without_a_lease_gets_410(task: MarkingTask, bob: User, dana: User, client_for: ClientFor) -> None:
    MarkingTask.objects.filter(pk=task.pk).update(assignee=dana)
    client = client_for(bob)
    names = ("command", "undo", "redo", "seal", "unseal", "heartbeat", "pass")
    answers = [sent(client, task, name, verb="clear", id=str(uuid.uuid4()), row_version=0, reason="skip") for name in names]
    assert {answer.status_code for answer in answers} == {410}
    page = client.get(reverse("marks:task", kwargs={"task_id": task.public_id}))
    assert page.status_code == 410
    assert "Another marker has this script" in page.content.decode()


def test_handing_a_script_on_opens_the_next_one(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    done = sent(client, task, "pass", reason="conflict", words="My nephew.")
    assert done.status_code == 200
    assert done.json()["next"] not in (None, reverse("marks:task", kwargs={"task_id": task.public_id}))
    assert Pass.objects.get().reason == PassReason.CONFLICT
    following = MarkingTask.objects.get(assignee=bob)
    assert sent(client, following, "pass", reason="boredom").status_code == 422


def test_the_next_script_is_claimed_in_advance_until_none_is_left(
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


def test_a_page_reports_that_no_script_is_left(problem: ContestProblem, bob: User, dana: User, client_for: ClientFor) -> None:
    for _ in range(3):
        sealed(claimed(problem, bob), bob)
    page = client_for(bob).post(reverse("marks:next", kwargs={"problem_id": problem.public_id}))
    assert "Nothing left for you" in page.content.decode()
    assert "3 scripts" in page.content.decode()


def test_every_pane_shows_its_part(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
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


def test_forms_and_scripts_have_the_same_effect(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
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


def test_a_request_without_a_csrf_token_changes_nothing(task: MarkingTask, bob: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(bob)
    for name in ("command", "undo", "redo", "seal", "unseal", "heartbeat", "pass"):
        assert sent(client, task, name, verb="clear", id=str(uuid.uuid4()), row_version=0).status_code == 403
    assert client.post(reverse("marks:next", kwargs={"problem_id": task.case.problem.public_id})).status_code == 403


def test_strangers_and_students_get_404_and_a_closed_contest_is_not_marked(
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


def test_the_captain_answers_questions_of_markers(
    problem: ContestProblem, bob: User, dana: User, client_for: ClientFor
) -> None:
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


def test_an_organiser_sets_up_the_marking_of_a_problem(bob: User, dana: User, client_for: ClientFor) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    contest.coaches.create(person=dana)
    problem = moved(contest, ContestState.MARKING).problems.get()
    make_scheme(bob, problem.problem)  # A draft has no active version.
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


def test_a_heartbeat_returns_only_the_names_of_other_markers(bob: User, dana: User, client_for: ClientFor) -> None:
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
