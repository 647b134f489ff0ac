"""Drafts: each command is applied once, to the sheet that the marker saw, and can be undone."""

import uuid
from typing import Any

import pytest

from apps.accounts.models import User
from apps.marks.models import Mark, MarkCommand, MarkingTask
from apps.marks.sheets import mark_state
from apps.marks.workspace import drafts
from apps.marks.workspace.drafts import DEPTH, Command, DraftChanged, command_apply, draft_of, draft_redo, draft_undo
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.sheets.commands import CommandRefused
from apps.schemes.services import scheme_activate, scheme_save
from tests.marks.factory import claimed, commanded, problem_to_mark, sealed, task_whole
from tests.schemes.factory import content


@pytest.fixture
def task(bob: User) -> MarkingTask:
    return claimed(problem_to_mark(bob), bob)


def typed(mark: Mark) -> Any:
    return mark_state(mark)["sheet"]["typed"]


def test_a_command_sent_twice_is_applied_once(task: MarkingTask, bob: User) -> None:
    command = Command(id=uuid.uuid4(), verb="points", args={"points": 3}, row_version=0)
    first = command_apply(task=task, user=bob, command=command)
    again = command_apply(task=task, user=bob, command=command)
    assert (first.row_version, again.row_version) == (1, 1)
    assert mark_state(first)["sheet"] == mark_state(again)["sheet"]
    assert MarkCommand.objects.count() == 1


def test_a_command_on_an_older_sheet_is_refused_with_the_differences(task: MarkingTask, bob: User) -> None:
    commanded(task, bob, "points", points=3)
    late = Command(id=uuid.uuid4(), verb="tick", args={"code": "A1"}, row_version=0)
    with pytest.raises(DraftChanged) as changed:
        command_apply(task=task, user=bob, command=late)
    assert changed.value.fields == ["ticks"]
    assert changed.value.mark.row_version == 1
    assert typed(draft_of(task, bob)) == "3"


def test_undo_and_redo_go_through_the_commands(task: MarkingTask, bob: User) -> None:
    for points in (1, 2, 3):
        commanded(task, bob, "points", points=points)
    mark = draft_undo(task=task, user=bob, row_version=3)
    assert typed(mark) == "2"
    mark = draft_undo(task=task, user=bob, row_version=4)
    mark = draft_undo(task=task, user=bob, row_version=5)
    state = mark_state(mark)
    assert (state["sheet"]["typed"], state["can_undo"], state["can_redo"]) == (None, False, True)
    with pytest.raises(CommandRefused, match="nothing to undo"):
        draft_undo(task=task, user=bob, row_version=6)
    mark = draft_redo(task=task, user=bob, row_version=6)
    assert typed(mark) == "1"


def test_a_new_command_clears_the_redo_history(task: MarkingTask, bob: User) -> None:
    commanded(task, bob, "points", points=1)
    commanded(task, bob, "points", points=2)
    draft_undo(task=task, user=bob, row_version=2)
    mark = commanded(task, bob, "points", points=6)
    assert [command.number for command in mark.commands.all()] == [1, 2]
    with pytest.raises(CommandRefused, match="nothing to redo"):
        draft_redo(task=task, user=bob, row_version=4)
    assert typed(draft_undo(task=task, user=bob, row_version=4)) == "1"


def test_undoing_an_older_sheet_is_refused(task: MarkingTask, bob: User) -> None:
    commanded(task, bob, "points", points=1)
    commanded(task, bob, "points", points=2)
    with pytest.raises(DraftChanged):
        draft_undo(task=task, user=bob, row_version=1)


def test_fifty_commands_and_more_can_be_undone(task: MarkingTask, bob: User) -> None:
    assert DEPTH >= 50
    for number in range(60):
        commanded(task, bob, "points", points=number % 8)
    for row_version in range(60, 110):
        mark = draft_undo(task=task, user=bob, row_version=row_version)
    assert typed(mark) == str(9 % 8)


def test_a_refused_command_changes_nothing(task: MarkingTask, bob: User) -> None:
    with pytest.raises(CommandRefused):
        commanded(task, bob, "tick", code="nothing")
    assert draft_of(task, bob).row_version == 0
    assert not MarkCommand.objects.exists()


def test_a_sealed_mark_takes_no_command(task: MarkingTask, bob: User) -> None:
    sealed(task, bob)
    with pytest.raises(CommandRefused, match="sealed"):
        commanded(task, bob, "points", points=0)
    with pytest.raises(CommandRefused, match="sealed"):
        draft_undo(task=task, user=bob, row_version=2)


def test_a_draft_follows_the_scheme_by_the_lineage_of_its_items(task: MarkingTask, bob: User) -> None:
    commanded(task, bob, "claim", line="A1 A2")
    scheme = task.case.problem.setup.scheme
    assert scheme is not None
    renamed = content(("checkpoint A1, 3 points", "checkpoint S1, 3 points"), ("needs A1", "needs S1"))
    scheme_save(scheme=scheme, content=renamed, by=bob, based_on=scheme.row_version)
    scheme.refresh_from_db()
    scheme_activate(scheme=scheme, by=bob, based_on=scheme.row_version)
    mark = draft_of(task_whole(task), bob)
    assert sorted(mark.sheet["ticks"]) == ["A2", "S1"]
    assert mark.scheme_version is not None
    assert mark.scheme_version.number == 2


def test_a_scheme_with_another_meaning_increases_the_version_of_the_sheet(task: MarkingTask, bob: User) -> None:
    commanded(task, bob, "claim", line="A1")
    scheme = task.case.problem.setup.scheme
    assert scheme is not None
    scheme_save(scheme=scheme, content=content(("A1, 3 points", "A1, 2 points")), by=bob, based_on=scheme.row_version)
    scheme.refresh_from_db()
    scheme_activate(scheme=scheme, by=bob, based_on=scheme.row_version)
    with pytest.raises(DraftChanged) as changed:
        command_apply(
            task=task_whole(task),
            user=bob,
            command=Command(id=uuid.uuid4(), verb="tick", args={"code": "D1"}, row_version=1),
        )
    assert changed.value.mark.row_version == 2
    assert mark_state(commanded(task_whole(task), bob, "tick", code="D1"))["points"] == "1"


def test_following_the_scheme_keeps_a_concurrent_command(task: MarkingTask, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    commanded(task, bob, "tick", code="A1")
    scheme = task.case.problem.setup.scheme
    assert scheme is not None
    scheme.refresh_from_db()
    scheme_save(scheme=scheme, content=changed(), by=bob, based_on=scheme.row_version)
    scheme.refresh_from_db()
    scheme_activate(scheme=scheme, by=bob, based_on=scheme.row_version)
    carried = drafts.ticks_carried
    mark = Mark.objects.get(task=task)

    def meanwhile(*given: Any) -> Any:
        monkeypatch.setattr(drafts, "ticks_carried", carried)
        value = mark.sheet | {"reason": "Meanwhile."}
        Mark.objects.filter(pk=mark.pk).update(sheet=value, row_version=mark.row_version + 1)
        return carried(*given)

    monkeypatch.setattr(drafts, "ticks_carried", meanwhile)
    followed = draft_of(task_whole(task), bob)
    assert followed.sheet["reason"] == "Meanwhile."
    assert followed.scheme_version == scheme.versions.get(status="active")
    assert followed.row_version == mark.row_version + 2


def changed() -> Scheme:
    """Return the scheme with other points for one item."""
    old = content()
    items = tuple(one.model_copy(update={"text": f"{one.text} indeed"}) if one.code == "A1" else one for one in old.items)
    return old.model_copy(update={"items": items})
