"""After a reveal a mark is kept, or changed for a reason; a large change brings a fresh mark by a marker without insight."""

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.marks.coordination.comparing import case_compare
from apps.marks.models import AuditEvent, CaseState, FinalGrade, MarkingTask, MarkState, Reveal, Slot, Suggestion
from apps.marks.sealing.revealing import Change, RevealRefused, mark_change, mark_keep, stage_show
from apps.marks.sealing.sealing import cases_settle
from apps.marks.sheets import sheet_of
from apps.marks.workspace.claims import task_next
from apps.reasoning.marking.revealing import Stage
from apps.reasoning.marking.suggestion import SuggestionBody
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, sealed
from tests.marks.suggested import SEVEN, THREE, answered, sealed_mark, suggested

ClientFor = Callable[[User | None], Client]


def test_keeping_a_mark_changes_no_points(bob: User) -> None:
    mark = sealed_mark(bob)
    answered(mark)
    mark = mark_keep(mark=mark)
    assert [mark.state, mark.points, mark.sealed_points] == [MarkState.CONFIRMED, 7, 7]
    with pytest.raises(RevealRefused):
        mark_keep(mark=mark)


def test_an_accepted_finding_becomes_a_verdict_and_the_sealed_sheet_stays(bob: User) -> None:
    mark = sealed_mark(bob)
    answered(mark, is_accepted=True)
    mark = mark_keep(mark=mark)
    assert [verdict.step for verdict in sheet_of(mark).verdicts] == [1, 2]
    assert [mark.points, mark.sealed_points] == [7, 7]
    assert mark.sealed_sheet is not None
    assert mark.sealed_sheet["verdicts"] == []


@pytest.mark.parametrize(
    ("grader", "origin"), [("scripted", ""), ("computational", "program"), ("workflow:single_turn@small", "model")]
)
def test_an_accepted_finding_keeps_its_origin(bob: User, grader: str, origin: str) -> None:
    mark = sealed_mark(bob)
    Suggestion.objects.update(grader=grader)
    answered(mark, is_accepted=True)
    assert {verdict.origin for verdict in sheet_of(mark_keep(mark=mark)).verdicts} == {origin}


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        (Change("A1", ""), "four reasons"),
        (Change("A1", "better"), "four reasons"),
        (Change("A1", "missed"), "Name the step"),
        (Change("A1", "missed", 9), "no step 9"),
        (Change("A1 A2", "slip"), "Nothing is different"),
    ],
)
def test_points_change_only_with_a_reason_and_down_only_with_a_step(bob: User, change: Change, missing: str) -> None:
    mark = sealed_mark(bob)
    answered(mark)
    with pytest.raises(RevealRefused, match=missing):
        mark_change(mark=mark, change=change)
    mark.refresh_from_db()
    assert [mark.points, mark.state] == [7, MarkState.SEALED]


def test_a_change_keeps_the_sealed_points_and_gives_a_new_grade(bob: User) -> None:
    mark = sealed_mark(bob)
    cases_settle(past_grace(mark).task.case.problem.contest)
    answered(mark)
    mark = mark_change(mark=mark, change=Change("A1 A2 D1", "missed", 2, "The case of two."))
    assert [mark.state, mark.points, mark.sealed_points] == [MarkState.REVISED, 6, 7]
    assert mark.change_reason == "I missed it (step 2). The case of two."
    first, second = FinalGrade.objects.order_by("pk")
    assert [first.points, second.points, second.supersedes] == [7, 6, first]
    assert AuditEvent.objects.get(verb="mark.revised").body["before"] == "7"


def test_a_mark_is_not_decided_before_all_findings_are_answered(bob: User) -> None:
    mark = sealed_mark(bob)
    with pytest.raises(RevealRefused):
        mark_keep(mark=mark)
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    stage_show(mark=mark, stage=Stage.FINDINGS)
    with pytest.raises(RevealRefused):
        mark_change(mark=mark, change=Change("A1", "slip", 1))


def test_a_large_change_brings_a_fresh_mark(bob: User) -> None:
    eve = marker("eve")
    mark = sealed_mark(bob, others=(eve,))
    cases_settle(past_grace(mark).task.case.problem.contest)
    answered(mark)
    mark_change(mark=mark, change=Change("A1", "missed", 2, "A gap."))
    case = mark.task.case
    case.refresh_from_db()
    assert case.state == CaseState.OPEN
    task = claimed(case.problem, eve)
    assert (task.slot, task.case) == (Slot.THIRD, case)
    past_grace(sealed(task, eve, *THREE))
    cases_settle(case.problem.contest)
    case.refresh_from_db()
    assert case.state == CaseState.SETTLED
    assert FinalGrade.objects.get(case=case, superseded_by=None).points == 3


def test_a_marker_who_has_seen_another_mark_makes_no_fresh_mark(bob: User) -> None:
    eve, mallory = marker("eve"), marker("mallory")
    mark = sealed_mark(bob, others=(eve, mallory))
    case = mark.task.case
    Reveal.objects.create(case=case, person=eve, kind="colleague", mark=mark, trigger="ledger")
    answered(mark)
    mark_change(mark=mark, change=Change("A1", "missed", 2, "A gap."))
    assert task_next(case.problem, bob) is None
    assert task_next(case.problem, eve) is None
    task = task_next(case.problem, mallory)
    assert task is not None
    assert task.slot == Slot.THIRD


def test_a_change_counts_when_no_marker_is_eligible_for_a_fresh_mark(bob: User) -> None:
    mark = sealed_mark(bob)
    cases_settle(past_grace(mark).task.case.problem.contest)
    answered(mark)
    mark_change(mark=mark, change=Change("A1", "missed", 2))
    assert not MarkingTask.objects.filter(slot=Slot.THIRD).exists()
    mark.task.case.refresh_from_db()
    assert mark.task.case.state == CaseState.SETTLED


def test_two_changed_marks_are_compared_again(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2, unrevealed_percent=0)
    marks = [sealed(claimed(problem, person), person, *SEVEN) for person in (bob, dana)]
    suggested(marks[0], SuggestionBody())
    for mark in marks:
        past_grace(mark)
    cases_settle(problem.contest)
    answered(marks[0])
    mark_change(mark=marks[0], change=Change("A1 A2 D1", "slip", 1))
    case = marks[0].task.case
    case.refresh_from_db()
    assert case.state == CaseState.DISPUTED
    assert case_compare(case) == CaseState.DISPUTED, "a second comparison changes nothing"
    answered(marks[1])
    with pytest.raises(RevealRefused, match="compared"):
        mark_keep(mark=marks[1])
