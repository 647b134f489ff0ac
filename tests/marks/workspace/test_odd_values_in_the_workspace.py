"""Impossible numbers and characters are refused with a message, and nothing is stored."""

import uuid

import pytest

from apps.accounts.models import User
from apps.marks.models import MarkingTask, Pass, PassReason
from tests.marks.factory import claimed, problem_to_mark
from tests.marks.workspace.test_workspace_addresses import ClientFor, sent


@pytest.fixture
def task(bob: User, dana: User) -> MarkingTask:
    return claimed(problem_to_mark(bob, dana, scripts=2), bob)


@pytest.mark.parametrize("version", [10**400, -(10**30), 1e308, float("nan"), "9" * 5000, None])
def test_an_impossible_sheet_version_is_refused(version: object, task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    for name in ("command", "undo", "redo", "seal"):
        answer = sent(client, task, name, id=str(uuid.uuid4()), verb="claim", args={"line": "A1"}, row_version=version)
        assert answer.status_code in (409, 422)
        assert answer.json()["message"]


def test_a_lone_surrogate_is_refused_and_a_nul_is_removed(task: MarkingTask, bob: User, client_for: ClientFor) -> None:
    answer = sent(client_for(bob), task, "pass", reason=PassReason.UNSURE, words="\ud800")
    assert (answer.status_code, answer.json()["message"]) == (422, "The request is not valid JSON.")
    assert sent(client_for(bob), task, "pass", reason=PassReason.UNSURE, words="Why\0?").status_code == 200
    assert Pass.objects.get().words == "Why?"
