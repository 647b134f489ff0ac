"""Assigned scripts come first for their marker; others get them only if they are shared or handed over."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.access import TaskGone, task_get_for
from apps.marks.models import Assignment, AuditEvent, MarkingTask, PassReason, Reveal, RevealKind
from apps.marks.sealing.sealing import cases_settle
from apps.marks.team.assigning import AssigningRefused, Share, scripts_assign, scripts_hand_over
from apps.marks.team.progress import progress_of
from apps.marks.workspace.claims import task_next
from apps.marks.workspace.passes import task_pass
from tests.marks.factory import claimed, commanded, marker, past_grace, problem_to_mark, sealed, task_whole


def assign(problem: ContestProblem, by: User, *markers: User, **share: object) -> int:
    return scripts_assign(problem=problem, markers=markers, share=Share(**share), by=by)  # type: ignore[arg-type]


def numbers(problem: ContestProblem) -> list[str]:
    return list(problem.contest.papers.order_by("number").values_list("number", flat=True))


def number_of(task: MarkingTask) -> str:
    return task_whole(task).case.version.submission.paper.number


def all_of(problem: ContestProblem, user: User) -> list[str]:
    """The papers that a marker gets, one after the other, until none is left."""
    got = []
    while (task := task_next(problem, user)) is not None:
        got.append(number_of(task))
        sealed(task_whole(task), user)
    return got


def test_an_assigned_range_comes_first_and_nothing_else_of_others(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=5)
    known = numbers(problem)
    assert assign(problem, bob, dana, first=known[1], last=known[2]) == 2
    assert set(all_of(problem, dana)[:2]) == {known[1], known[2]}


def test_others_do_not_get_assigned_scripts_but_their_marker_does(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=4)
    known = numbers(problem)
    assign(problem, bob, dana, last=known[1])
    assert set(all_of(problem, bob)) == {known[2], known[3]}
    assert set(all_of(problem, dana)) == {known[0], known[1]}


def test_shared_scripts_are_for_any_free_marker_as_well(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=3)
    assign(problem, bob, dana, is_shared=True)
    assert len(all_of(problem, bob)) == 3


def test_a_range_is_split_into_equal_parts(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=5)
    assign(problem, bob, bob, dana)
    by_marker = [Assignment.objects.filter(marker=one).count() for one in (bob, dana)]
    assert sorted(by_marker) == [2, 3]
    assert len(all_of(problem, dana)) == by_marker[1]


def test_with_two_markers_the_other_slot_of_an_assigned_script_is_free(bob: User, dana: User) -> None:
    third = marker("third")
    problem = problem_to_mark(bob, dana, third, scripts=1, markers=2)
    assign(problem, bob, dana)
    sealed(claimed(problem, bob), bob)
    assert task_next(problem, third) is None, "the slot that is left waits for dana"
    assert claimed(problem, dana).case.tasks.count() == 2


def test_a_slot_that_is_held_is_not_the_one_that_is_left(bob: User, dana: User) -> None:
    third = marker("third")
    problem = problem_to_mark(bob, dana, third, scripts=1, markers=2)
    assign(problem, bob, dana)
    assert claimed(problem, bob), "one slot is for any free marker"
    assert task_next(problem, third) is None, "the other one waits for dana, before and after the first is sealed"
    assert claimed(problem, dana)
    assert task_next(problem, third) is None


def test_a_slot_does_not_wait_for_a_marker_who_may_not_take_it(bob: User, dana: User) -> None:
    third = marker("third")
    problem = problem_to_mark(bob, dana, third, scripts=1, markers=2)
    assign(problem, bob, dana)
    Reveal.objects.create(case=problem.cases.get(), person=dana, kind=RevealKind.QUESTION, trigger="test")
    assert claimed(problem, bob)
    assert claimed(problem, third)


def test_settled_scripts_are_neither_to_do_nor_handed_over(bob: User, dana: User) -> None:
    third = marker("third")
    problem = problem_to_mark(bob, dana, third, scripts=1)
    assign(problem, bob, dana, third, is_split=False)
    past_grace(sealed(claimed(problem, dana), dana))
    cases_settle(problem.contest)
    rows = {row.marker: row for row in progress_of(problem, shows_points=False).markers}
    assert rows[third].to_do == 0
    with pytest.raises(AssigningRefused, match="no unfinished script"):
        scripts_hand_over(problem=problem, marker=third, to=bob, reason="Ill.", by=bob)


def test_without_markers_a_range_is_for_any_free_marker_again(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=2)
    assign(problem, bob, dana)
    assert task_next(problem, bob) is None
    assign(problem, bob)
    assert len(all_of(problem, bob)) == 2


def test_a_script_whose_marker_knows_the_author_is_for_others(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    assign(problem, bob, dana)
    task_pass(task=claimed(problem, dana), user=dana, reason=PassReason.CONFLICT)
    assert task_next(problem, dana) is None
    assert claimed(problem, bob)


def test_a_script_of_a_coach_who_left_the_contest_is_for_others(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    assign(problem, bob, dana)
    problem.contest.coaches.filter(person=dana).delete()
    assert claimed(problem, bob)


def test_handing_over_needs_a_reason_and_keeps_the_draft_for_its_marker(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=2)
    assign(problem, bob, dana)
    task = claimed(problem, dana)
    commanded(task, dana, "points", points=3)
    with pytest.raises(AssigningRefused, match="reason"):
        scripts_hand_over(problem=problem, marker=dana, to=bob, reason=" ", by=bob)
    assert scripts_hand_over(problem=problem, marker=dana, to=bob, reason="Ill.", by=bob) == 2
    with pytest.raises(TaskGone):
        task_get_for(dana, task.public_id)
    assert len(all_of(problem, bob)) == 2
    event = AuditEvent.objects.get(verb="team.handed-over")
    assert (event.actor, event.body["reason"], event.body["given_to"]) == (bob, "Ill.", "bob")
    assert sorted(event.body["list"]) == numbers(problem)
    assert AuditEvent.objects.get(verb="draft.left").actor == dana


def test_sealed_marks_stay_when_scripts_are_taken(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=2)
    assign(problem, bob, dana)
    mark = sealed(claimed(problem, dana), dana)
    assert scripts_hand_over(problem=problem, marker=dana, to=None, reason="Too many.", by=bob) == 1
    mark.refresh_from_db()
    assert mark.sealed_points == 7
    assert claimed(problem, bob).pk != mark.task_id


@pytest.mark.parametrize(
    ("first", "last", "words"), [("ZZZZZZ", "BBBBBB", "wrong|before it begins"), ("zzzzzz", "", "No script")]
)
def test_a_range_without_scripts_is_refused(bob: User, first: str, last: str, words: str) -> None:
    problem = problem_to_mark(bob, scripts=1)
    with pytest.raises(AssigningRefused, match=words):
        assign(problem, bob, bob, first=first, last=last)
    with pytest.raises(AssigningRefused, match="not a coach"):
        assign(problem, bob, marker("stranger"))


def test_an_organiser_assigns_and_takes_on_the_page_and_a_coach_cannot(bob: User, dana: User, client: Client) -> None:
    problem = problem_to_mark(bob, dana, scripts=2)
    url = f"/office/problem/{problem.public_id}/assign"
    client.force_login(dana)
    assert client.post(url, {"marker": "dana"}).status_code == 404
    assert client.get(f"/office/{problem.contest.public_id}/team/").status_code == 404
    client.force_login(bob)
    page = client.post(url, {"marker": "dana"}, follow=True).content.decode()
    assert "2 scripts of problem" in page
    refused = client.post(f"/office/problem/{problem.public_id}/hand-over", {"marker": "dana", "to": "bob"}, follow=True)
    assert "Enter a reason" in refused.content.decode()
    assert Assignment.objects.filter(marker=dana).count() == 2


def test_an_expired_lease_of_an_assigned_script_waits_for_its_marker(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    assign(problem, bob, dana)
    task = claimed(problem, dana)
    MarkingTask.objects.filter(pk=task.pk).update(lease_until=timezone.now() - timedelta(minutes=1))
    assert task_next(problem, bob) is None, "dana began it and still has it"
    assert claimed(problem, dana) == task
