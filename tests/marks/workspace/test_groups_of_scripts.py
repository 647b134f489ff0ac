"""Alike scripts are listed as groups; a marker gives items to those that they have read, and takes them back as a whole."""

import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import Assignment, Mark, MarkingCase, MarkingTask, PassReason, SharedItems
from apps.marks.sealing.sealing import mark_unseal
from apps.marks.setups import cases_prepare
from apps.marks.sheets import sheet_of
from apps.marks.workspace.claims import task_of_case
from apps.marks.workspace.drafts import draft_of, draft_undo, version_active
from apps.marks.workspace.groups import GroupRefused, groups_for, items_give, items_take_back
from apps.marks.workspace.passes import task_pass
from apps.reasoning.marking.schemes.text_form import text_read, text_written
from apps.schemes.services import scheme_activate, scheme_save
from tests.marks.factory import claimed, commanded, marker, problem_to_mark, script_add, script_scanned, sealed, task_whole

ClientFor = Callable[[User | None], Client]
TEXT = "The sum is odd.\n\nAnswer: ${}$"


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    """Four scripts: three with the answer 4, one with 5; two markers each."""
    made = problem_to_mark(bob, marker("eve"), scripts=0, markers=2)
    for number, answer in enumerate(("4", "8/2", "5", "4.0")):
        script_add(made, f"author {number}", TEXT.format(answer))
    cases_prepare(made)
    return made


def group_keys(problem: ContestProblem, user: User) -> list[uuid.UUID]:
    (found,) = groups_for(problem, user).groups
    return list(found.keys)


def opened(problem: ContestProblem, user: User, key: uuid.UUID) -> MarkingTask:
    """The script, claimed and opened by the marker."""
    task = task_of_case(problem, user, MarkingCase.objects.get(public_id=key).pk)
    assert task is not None
    whole = task_whole(task)
    draft_of(whole, user)
    return whole


def ticks(problem: ContestProblem, user: User, key: uuid.UUID) -> frozenset[str]:
    """The ticks of a script that the marker opens."""
    return sheet_of(draft_of(opened(problem, user, key), user)).ticks


def give(problem: ContestProblem, user: User, cases: Sequence[uuid.UUID], *codes: str) -> SharedItems:
    version = version_active(problem.setup)
    assert version is not None
    lineages = {item.code: item.lineage for item in version.content.items}
    return items_give(problem=problem, user=user, cases=cases, items=[lineages.get(code, code) for code in codes])


def lost_to(other: User, task: MarkingTask, problem: ContestProblem) -> MarkingTask:
    """The lease of a marker ends, and another one takes the task, whose draft goes into the record."""
    MarkingTask.objects.filter(pk=task.pk).update(lease_until=timezone.now() - timedelta(minutes=1))
    MarkingTask.objects.filter(case=task.case_id).exclude(pk=task.pk).delete()
    taken = opened(problem, other, task.case.public_id)
    assert taken.pk == task.pk
    return taken


def test_a_script_has_the_items_when_its_marker_opens_it_and_not_for_the_other_marker(
    problem: ContestProblem, bob: User
) -> None:
    first, second, third = group_keys(problem, bob)
    give(problem, bob, [first, second], "A1")
    assert [ticks(problem, bob, key) for key in (first, second, third)] == [{"A1"}, {"A1"}, frozenset()]
    assert ticks(problem, marker("eve"), first) == frozenset()


def test_a_draft_in_hand_has_them_at_once_and_keeps_its_own_ticks_when_they_are_taken_back(
    problem: ContestProblem, bob: User
) -> None:
    first, second, _ = group_keys(problem, bob)
    commanded(opened(problem, bob, first), bob, "tick", code="A1")
    shared = give(problem, bob, [first, second], "A1", "A2")
    assert sheet_of(Mark.objects.get()).ticks == {"A1", "A2"}
    assert items_take_back(shared=shared, user=bob) == []
    assert ticks(problem, bob, first) == {"A1"}
    assert ticks(problem, bob, second) == frozenset()
    with pytest.raises(GroupRefused, match="taken back already"):
        items_take_back(shared=shared, user=bob)


def test_a_script_that_was_put_off_has_them_when_it_returns(problem: ContestProblem, bob: User) -> None:
    first, second, _ = group_keys(problem, bob)
    task = opened(problem, bob, first)
    task_pass(task=task, user=bob, reason=PassReason.SKIP)
    shared = give(problem, bob, [first, second], "A1")
    assert ticks(problem, bob, first) == {"A1"}
    task_pass(task=task, user=bob, reason=PassReason.SKIP)
    assert items_take_back(shared=shared, user=bob) == []
    assert ticks(problem, bob, first) == frozenset()


def test_items_taken_back_do_not_return_with_a_draft_from_the_record(problem: ContestProblem, bob: User) -> None:
    eve, (first, *_) = marker("eve"), group_keys(problem, bob)
    shared = give(problem, bob, [first], "A1")
    task = opened(problem, bob, first)
    commanded(task, bob, "tick", code="A2")
    lost_to(eve, task, problem)
    items_take_back(shared=shared, user=bob)
    lost_to(bob, task, problem)
    assert sheet_of(Mark.objects.get(marker=bob)).ticks == {"A2"}


def test_an_item_given_twice_stays_until_both_decisions_are_taken_back(problem: ContestProblem, bob: User) -> None:
    first, second, _ = group_keys(problem, bob)
    one, other = give(problem, bob, [first], "A1"), give(problem, bob, [first, second], "A1", "A2")
    assert ticks(problem, bob, first) == {"A1", "A2"}
    items_take_back(shared=one, user=bob)
    assert ticks(problem, bob, first) == {"A1", "A2"}
    items_take_back(shared=other, user=bob)
    assert ticks(problem, bob, first) == frozenset()


def test_items_reach_drafts_of_an_older_scheme(problem: ContestProblem, bob: User) -> None:
    first, second, _ = group_keys(problem, bob)
    opened(problem, bob, first)
    scheme = problem.setup.scheme
    assert scheme is not None
    other = text_read(text_written(scheme.versions.get(status="active").content).replace("A1, 3 points", "A1, 2 points"))
    scheme_save(scheme=scheme, content=other, by=bob, based_on=scheme.row_version)
    scheme.refresh_from_db()
    scheme_activate(scheme=scheme, by=bob, based_on=scheme.row_version)
    problem = ContestProblem.objects.select_related("contest", "setup__scheme").get(pk=problem.pk)
    shared = give(problem, bob, [first, second], "A1")
    assert [ticks(problem, bob, key) for key in (first, second)] == [{"A1"}, {"A1"}]
    items_take_back(shared=shared, user=bob)
    assert ticks(problem, bob, first) == frozenset()


def test_the_marker_may_untick_an_item_and_it_does_not_return(problem: ContestProblem, bob: User) -> None:
    first, *_ = group_keys(problem, bob)
    give(problem, bob, [first], "A1")
    task = opened(problem, bob, first)
    draft_undo(task=task, user=bob, row_version=Mark.objects.get().row_version)
    assert ticks(problem, bob, first) == frozenset()


def test_a_sealed_mark_keeps_the_items_and_is_named(problem: ContestProblem, bob: User) -> None:
    first, second, _ = group_keys(problem, bob)
    shared = give(problem, bob, [first, second], "A1")
    task = opened(problem, bob, first)
    sealed(task, bob, ("points", {"points": 7}), ("reason", {"words": "Complete."}))
    assert items_take_back(shared=shared, user=bob) == [task.case.version.submission.paper.number]
    assert sheet_of(Mark.objects.get()).ticks == {"A1"}
    assert first not in group_keys(problem, bob)
    mark_unseal(task=task, user=bob)
    assert sheet_of(Mark.objects.get()).ticks == {"A1"}


@pytest.mark.parametrize(
    ("codes", "number", "words"),
    [(["A1"], 0, "Tick the scripts"), ([], 2, "Choose the items"), (["Z9"], 2, "was changed meanwhile")],
)
def test_a_choice_that_lacks_something_is_refused(
    problem: ContestProblem, bob: User, codes: list[str], number: int, words: str
) -> None:
    with pytest.raises(GroupRefused, match=words):
        give(problem, bob, group_keys(problem, bob)[:number], *codes)
    assert not SharedItems.objects.exists()


def test_scripts_sealed_meanwhile_and_the_same_items_again_are_refused(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=2)
    task = claimed(problem, bob)
    sealed(task, bob)
    with pytest.raises(GroupRefused, match="None of these scripts waits"):
        give(problem, bob, [task.case.public_id], "A1")
    left = claimed(problem, bob).case.public_id
    give(problem, bob, [left], "A1")
    with pytest.raises(GroupRefused, match="None of these scripts waits"):
        give(problem, bob, [left], "A1")


def test_calibration_comes_first(bob: User) -> None:
    problem = problem_to_mark(bob, marker("eve"), needs_calibration=True)
    keys = group_keys(problem, marker("eve"))
    with pytest.raises(GroupRefused, match="calibration scripts"):
        give(problem, marker("eve"), keys, "A1")


def test_scripts_that_wait_for_others_by_assignment_are_left_out(problem: ContestProblem, bob: User) -> None:
    first, second, third = group_keys(problem, bob)
    cases = {key: MarkingCase.objects.get(public_id=key) for key in (first, second)}
    for person in (marker("eve"), marker("mallory")):
        Assignment.objects.create(case=cases[first], marker=person, is_shared=False)
    Assignment.objects.create(case=cases[second], marker=marker("eve"), is_shared=False)
    assert set(group_keys(problem, bob)) == {second, third}, "one of the two marks on the second script is free"


def test_the_pages_show_each_script_and_give_and_take_back(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    script_scanned(problem, "Zoe")
    client, address = client_for(bob), reverse("marks:groups", args=[problem.public_id])
    page = client.get(address).content.decode()
    assert "Same final answer" in page
    assert "1 script without text is not compared" in page
    keys = group_keys(problem, bob)
    of_group = reverse("marks:group", args=[problem.public_id, "answer", keys[0]])
    page = client.get(of_group).content.decode()
    assert page.count("The sum is odd.") == 3
    item = page.split('name="item" value="')[1].split('"')[0]
    refused = client.post(of_group, {"case": [str(keys[1])]})
    assert (refused.status_code, "Choose the items" in refused.content.decode()) == (422, True)
    assert f'value="{keys[1]}" checked' in refused.content.decode()
    sent = {"case": [str(keys[1]), str(keys[2]), str(uuid.uuid4())], "item": item}
    given = client.post(of_group, sent, follow=True).content.decode()
    assert "2 scripts have the items now. They are ticked when you mark them." in given
    assert "1 of the ticked scripts had them, or wait for your mark no more." in given
    assert given.count("given: A1") == 2
    shared = SharedItems.objects.get()
    assert client_for(marker("eve")).post(reverse("marks:items_take_back", args=[shared.pk])).status_code == 404
    back = client.post(reverse("marks:items_take_back", args=[shared.pk]), follow=True).content.decode()
    assert "The items were taken back." in back
    assert "Given by you" not in back


def test_a_group_that_is_gone_leads_to_the_list(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    address = reverse("marks:group", args=[problem.public_id, "beginning", uuid.uuid4()])
    assert "waits for your mark no more" in client_for(bob).get(address, follow=True).content.decode()
