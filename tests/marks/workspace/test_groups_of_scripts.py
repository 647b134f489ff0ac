"""Alike scripts are listed as groups; a marker gives items to those that they have read, and takes them back as a whole."""

import uuid
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import Mark, MarkingCase, SharedItems
from apps.marks.sheets import sheet_of
from apps.marks.workspace.claims import task_of_case
from apps.marks.workspace.drafts import draft_of, draft_undo
from apps.marks.workspace.groups import GroupRefused, groups_for, items_give, items_take_back
from tests.marks.factory import claimed, commanded, marker, problem_to_mark, script_add, script_scanned, sealed, task_whole

ClientFor = Callable[[User | None], Client]
TEXT = "The sum is odd.\n\nAnswer: ${}$"


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    """Four scripts: three with the answer 4, one with 5; two markers each."""
    made = problem_to_mark(bob, marker("eve"), scripts=0, markers=2)
    for number, answer in enumerate(("4", "8/2", "5", "4.0")):
        script_add(made, f"author {number}", TEXT.format(answer))
    from apps.marks.setups import cases_prepare

    cases_prepare(made)
    return made


def group_keys(problem: ContestProblem, user: User) -> list[uuid.UUID]:
    (found,) = groups_for(problem, user).groups
    return list(found.keys)


def ticks(problem: ContestProblem, user: User, key: uuid.UUID) -> frozenset[str]:
    """The ticks of a script that the marker opens."""
    task = task_of_case(problem, user, MarkingCase.objects.get(public_id=key).pk)
    assert task is not None
    return sheet_of(draft_of(task_whole(task), user)).ticks


def test_a_script_has_the_items_when_its_marker_opens_it_and_not_for_the_other_marker(
    problem: ContestProblem, bob: User
) -> None:
    first, second, third = group_keys(problem, bob)
    items_give(problem=problem, user=bob, cases=[first, second], codes=["A1"])
    assert [ticks(problem, bob, key) for key in (first, second, third)] == [{"A1"}, {"A1"}, frozenset()]
    assert ticks(problem, marker("eve"), first) == frozenset()


def test_a_draft_in_hand_has_them_at_once_and_keeps_its_own_ticks_when_they_are_taken_back(
    problem: ContestProblem, bob: User
) -> None:
    first, second, _ = group_keys(problem, bob)
    task = task_of_case(problem, bob, MarkingCase.objects.get(public_id=first).pk)
    assert task is not None
    commanded(task_whole(task), bob, "tick", code="A1")
    shared = items_give(problem=problem, user=bob, cases=[first, second], codes=["A1", "A2"])
    assert ticks(problem, bob, first) == {"A1", "A2"}
    assert items_take_back(shared=shared, user=bob) == []
    assert ticks(problem, bob, first) == {"A1"}
    assert ticks(problem, bob, second) == frozenset()
    with pytest.raises(GroupRefused, match="taken back already"):
        items_take_back(shared=shared, user=bob)


def test_the_marker_may_untick_an_item_and_it_does_not_return(problem: ContestProblem, bob: User) -> None:
    first, *_ = group_keys(problem, bob)
    items_give(problem=problem, user=bob, cases=[first], codes=["A1"])
    ticks(problem, bob, first)
    mark = Mark.objects.get()
    draft_undo(task=task_whole(mark.task), user=bob, row_version=mark.row_version)
    assert ticks(problem, bob, first) == frozenset()


def test_a_sealed_mark_keeps_the_items_and_is_named(problem: ContestProblem, bob: User) -> None:
    first, second, _ = group_keys(problem, bob)
    shared = items_give(problem=problem, user=bob, cases=[first, second], codes=["A1"])
    ticks(problem, bob, first)
    task = task_whole(Mark.objects.get().task)
    sealed(task, bob, ("points", {"points": 7}), ("reason", {"words": "Complete."}))
    assert items_take_back(shared=shared, user=bob) == [task.case.version.submission.paper.number]
    assert sheet_of(Mark.objects.get()).ticks == {"A1"}
    assert first not in group_keys(problem, bob)


@pytest.mark.parametrize(
    ("codes", "number", "words"),
    [(["A1"], 0, "Tick the scripts"), ([], 2, "Choose the items"), (["Z9"], 2, "no item Z9")],
)
def test_a_choice_that_lacks_something_is_refused(
    problem: ContestProblem, bob: User, codes: list[str], number: int, words: str
) -> None:
    with pytest.raises(GroupRefused, match=words):
        items_give(problem=problem, user=bob, cases=group_keys(problem, bob)[:number], codes=codes)
    assert not SharedItems.objects.exists()


def test_scripts_sealed_meanwhile_get_nothing(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=2)
    task = claimed(problem, bob)
    sealed(task, bob)
    with pytest.raises(GroupRefused, match="sealed meanwhile"):
        items_give(problem=problem, user=bob, cases=[task.case.public_id], codes=["A1"])


def test_calibration_comes_first(bob: User) -> None:
    problem = problem_to_mark(bob, marker("eve"), needs_calibration=True)
    keys = group_keys(problem, marker("eve"))
    with pytest.raises(GroupRefused, match="calibration scripts"):
        items_give(problem=problem, user=marker("eve"), cases=keys, codes=["A1"])


def test_the_pages_show_each_script_and_give_and_take_back(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    script_scanned(problem, "Zoe")
    client, address = client_for(bob), reverse("marks:groups", args=[problem.public_id])
    page = client.get(address).content.decode()
    assert "Same final answer" in page
    assert "1 script without text is not compared" in page
    keys = group_keys(problem, bob)
    of_group = reverse("marks:group", args=[problem.public_id, "answer", keys[0]])
    assert client.get(of_group).content.decode().count("The sum is odd.") == 3
    refused = client.post(of_group, {"case": [str(keys[1])]})
    assert (refused.status_code, "Choose the items" in refused.content.decode()) == (422, True)
    assert f'value="{keys[1]}" checked' in refused.content.decode()
    given = client.post(of_group, {"case": [str(keys[1]), str(keys[2])], "item": "A1"}, follow=True).content.decode()
    assert "A1 given to 2 scripts. They are ticked when you mark them." in given
    shared = SharedItems.objects.get()
    assert client_for(marker("eve")).post(reverse("marks:items_take_back", args=[shared.pk])).status_code == 404
    back = client.post(reverse("marks:items_take_back", args=[shared.pk]), follow=True).content.decode()
    assert "The items were taken back." in back
    assert "Given by you" not in back


def test_a_group_that_is_gone_leads_to_the_list(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    address = reverse("marks:group", args=[problem.public_id, "beginning", uuid.uuid4()])
    assert "fewer than two scripts left" in client_for(bob).get(address, follow=True).content.decode()
