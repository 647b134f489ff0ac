"""Tables of marks: an export can be imported again, each row is sealed separately, and a sealed mark never changes."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.files.tables import FileWrong
from apps.marks.models import AuditEvent, Mark, MarkingTask, MarkState
from apps.marks.sealing.sealing import mark_unseal
from apps.marks.workspace.drafts import draft_of
from apps.marks.workspace.tables import Outcome, table_seal, table_written
from tests.marks.factory import claimed, commanded, marker, past_grace, problem_to_mark, sealed

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    return problem_to_mark(bob, scripts=4, asks_place=False)


def numbers(problem: ContestProblem) -> list[str]:
    return sorted(paper.number for paper in problem.contest.papers.all())


def table(*rows: dict[str, str]) -> bytes:
    target = io.StringIO(newline="")
    writer = csv.DictWriter(target, ("paper", "claim", "points", "reason", "comment"), restval="")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue().encode()


def put_in(problem: ContestProblem, user: User, *rows: dict[str, str], is_trial: bool = False) -> list[Outcome]:
    return table_seal(problem=problem, user=user, data=table(*rows), is_trial=is_trial)


def test_an_exported_table_can_be_imported_without_a_change(problem: ContestProblem, bob: User) -> None:
    a, b, *_ = numbers(problem)
    rows = ({"paper": a, "claim": "-D1", "comment": "=Look again."}, {"paper": b, "points": "3", "reason": "An idea, a gap."})
    assert [row.state for row in put_in(problem, bob, *rows)] == ["sealed", "sealed"]
    before = list(Mark.objects.order_by("pk").values())
    out = table_written(problem, bob)
    assert out.count("\n") == 5
    again = table_seal(problem=problem, user=bob, data=out.encode(), is_trial=False)
    assert {row.state for row in again} == {"unchanged"}
    assert list(Mark.objects.order_by("pk").values()) == before


def test_each_row_is_sealed_separately(problem: ContestProblem, bob: User) -> None:
    a, b, c, d = numbers(problem)
    found = put_in(
        problem,
        bob,
        {"paper": a, "claim": "A1 A2"},
        {"paper": b, "claim": "A1 Z9"},
        {"paper": c, "points": "99"},
        {"paper": "NOPE", "points": "1"},
        {"paper": d.lower(), "points": "7"},
    )
    assert [row.state for row in found] == ["sealed", "refused", "refused", "refused", "sealed"]
    assert "Z9 is no item" in found[1].reason
    assert "more than the scale" in found[2].reason
    assert "no script of a paper" in found[3].reason
    assert (found[0].points, Mark.objects.filter(state=MarkState.SEALED).count()) == ("7", 2)
    assert not MarkingTask.objects.filter(assignee=bob, done_at=None).exists(), "a refused row reserves no script"


def test_a_trial_stores_nothing(problem: ContestProblem, bob: User) -> None:
    assert put_in(problem, bob, {"paper": numbers(problem)[0], "points": "7"}, is_trial=True)[0].state == "sealed"
    assert not Mark.objects.exists()


def test_a_sealed_mark_does_not_change(problem: ContestProblem, bob: User) -> None:
    mark = past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": "B1"})))
    number = mark.task.case.version.submission.paper.number
    (row,) = put_in(problem, bob, {"paper": number, "claim": "A1"})
    assert (row.state, "does not change" in row.reason) == ("refused", True)
    assert put_in(problem, bob, {"paper": number, "points": "7"})[0].state == "unchanged", "equal points are not a change"


def test_an_empty_cell_keeps_the_value_and_the_clear_sign_removes_it(problem: ContestProblem, bob: User) -> None:
    task = claimed(problem, bob)
    commanded(task, bob, "points", points=3)
    commanded(task, bob, "reason", words="An idea, a gap.")
    commanded(task, bob, "comment", id="c1", step=0, words="Nearly.")
    number = task.case.version.submission.paper.number
    (row,) = put_in(problem, bob, {"paper": number, "claim": "B1", "points": "!clear", "comment": "!clear"})
    assert (row.state, row.points) == ("sealed", "7")
    sheet = draft_of_sealed(task)
    assert (sheet["reason"], sheet["comments"]) == ("An idea, a gap.", [])


def test_a_second_import_replaces_the_comment_of_the_first(problem: ContestProblem, bob: User) -> None:
    number = numbers(problem)[0]
    put_in(problem, bob, {"paper": number, "points": "7", "comment": "At first."})
    task = Mark.objects.get().task
    mark_unseal(task=task, user=bob)
    assert put_in(problem, bob, {"paper": number, "comment": "At last."})[0].state == "sealed"
    comments = draft_of_sealed(task)["comments"]
    assert isinstance(comments, list)
    assert [one["words"] for one in comments] == ["At last."]


def draft_of_sealed(task: MarkingTask) -> dict[str, object]:
    sheet = Mark.objects.get(task=task).sealed_sheet
    assert sheet is not None
    return dict(sheet)


def test_a_colleagues_script_is_refused_and_not_exported(bob: User) -> None:
    dana = marker("dana two")
    problem = problem_to_mark(bob, dana, scripts=1, asks_place=False)
    task = claimed(problem, dana)
    draft_of(task, dana)
    (row,) = put_in(problem, bob, {"paper": numbers(problem)[0], "points": "7"})
    assert (row.state, "not free for you" in row.reason) == ("refused", True)
    sealed(task, dana, ("claim", {"line": "B1"}))
    assert "B1" not in table_written(problem, bob)


@pytest.mark.parametrize(
    ("data", "fault"),
    [(b"paper,grade\nA,1\n", "no column grade"), (b"claim,points\nA,1\n", "no column paper"), (b"", "empty")],
)
def test_a_malformed_table_is_refused(data: bytes, fault: str, problem: ContestProblem, bob: User) -> None:
    with pytest.raises(FileWrong, match=fault):
        table_seal(problem=problem, user=bob, data=data, is_trial=False)


def test_the_page_checks_before_it_seals(problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor) -> None:
    address = reverse("office:marks_table", args=[problem.public_id])
    client, data = client_for(bob), table({"paper": numbers(problem)[0], "points": "7"})

    def send(action: str) -> str:
        return client.post(address, {"file": SimpleUploadedFile("t.csv", data), "action": action}).content.decode()

    assert "1 would be sealed" in send("check")
    assert not Mark.objects.exists()
    assert "1 sealed, 0 unchanged" in send("seal")
    assert "0 sealed, 1 unchanged" in send("seal")
    assert client.post(address, {"action": "seal"}).status_code == 422
    assert client_for(charlie).get(address).status_code == 404


def test_a_row_claims_an_abandoned_script_and_archives_its_draft(bob: User) -> None:
    dana = marker("dana")
    problem = problem_to_mark(bob, dana, scripts=1, asks_place=False)
    task = claimed(problem, dana)
    commanded(task, dana, "tick", code="A1")
    MarkingTask.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    (row,) = put_in(problem, bob, {"paper": numbers(problem)[0], "points": "7"})
    assert (row.state, row.reason) == ("sealed", "")
    assert Mark.objects.get().marker == bob
    assert AuditEvent.objects.get(verb="draft.left").actor == dana


def test_a_paper_appears_only_once_in_a_table(problem: ContestProblem, bob: User) -> None:
    first = numbers(problem)[0]
    for is_trial in (True, False):
        rows = put_in(problem, bob, {"paper": first, "points": "7"}, {"paper": first, "points": "0"}, is_trial=is_trial)
        assert [row.state for row in rows] == ["sealed", "refused"]
        assert "twice" in rows[1].reason
    assert Mark.objects.get().points == 7
