"""A pending decision on suggestions does not undo the grade of an appeal or of a changed scheme."""

from collections.abc import Callable
from functools import partial

import pytest

from apps.accounts.models import User
from apps.marks.grades import grade_give, grade_of
from apps.marks.models import CaseState, FinalGrade, Mark, MarkingTask, MarkState, Slot
from apps.marks.office.scheme_change import change_apply, impact, target_of
from apps.marks.sealing.revealing import Change, mark_change, mark_keep
from apps.marks.sealing.sealing import cases_settle
from apps.reasoning.marking.schemes.rescoring import Choice
from apps.schemes.services import scheme_save
from tests.marks.factory import claimed, marker, past_grace, sealed, task_whole
from tests.marks.suggested import THREE, answered, sealed_mark
from tests.schemes.factory import content


@pytest.fixture
def mark(bob: User) -> Mark:
    """Return Bob's settled mark of all points, with every finding answered and no decision."""
    mark = sealed_mark(bob, others=(marker("eve"),))
    cases_settle(past_grace(mark).task.case.problem.contest)
    answered(mark, is_accepted=True)
    return mark


def appealed(mark: Mark) -> FinalGrade:
    """Return the grade of an appeal that Eve granted."""
    case = mark.task.case
    eve = marker("eve")
    task = task_whole(MarkingTask.objects.create(case=case, slot=Slot.APPEAL, assignee=eve))
    return grade_give(case=case, mark=sealed(task, eve, *THREE), by=eve, reason="An appeal was granted.")


def recomputed(mark: Mark, choice: Choice = Choice.RECOMPUTE) -> FinalGrade:
    """Return the current grade after the first item lost a point."""
    problem, by = mark.task.case.problem, mark.marker
    scheme = problem.setup.scheme
    assert scheme is not None
    cheaper = content(("A1, 3 points", "A1, 2 points"), ("A2, 4 points", "A2, 5 points"))
    scheme_save(scheme=scheme, content=cheaper, by=by, based_on=scheme.row_version)
    scheme.refresh_from_db()
    target = target_of(problem.setup)
    assert target is not None
    choices = dict.fromkeys((one.key for one in impact(problem, target, {}).differences), choice)
    token = impact(problem, target, choices).token
    change_apply(problem=problem, choices=choices, reason="Given away.", by=by, based_on=scheme.row_version, token=token)
    return FinalGrade.objects.get(case=mark.task.case, superseded_by=None)


@pytest.mark.parametrize("after", [appealed, recomputed])
@pytest.mark.parametrize("decide", [mark_keep, partial(mark_change, change=Change("A1", "missed", 2, "A gap."))])
def test_a_decision_on_suggestions_keeps_a_later_grade(
    mark: Mark, after: Callable[[Mark], FinalGrade], decide: Callable[..., Mark]
) -> None:
    grade = after(mark)
    mark = decide(mark=mark)
    case = mark.task.case
    case.refresh_from_db()
    assert mark.state == MarkState.REVISED
    assert (grade_of(case), case.state) == (grade, CaseState.SETTLED)
    assert not case.tasks.filter(slot=Slot.THIRD).exists(), "no fresh mark is requested"


def test_a_script_sent_back_after_an_appeal_gets_its_new_grade(mark: Mark) -> None:
    appealed(mark)
    recomputed(mark, Choice.REMARK)
    problem = mark.task.case.problem
    again = past_grace(sealed(claimed(problem, marker("eve")), marker("eve"), *THREE))
    cases_settle(problem.contest)
    grade = grade_of(mark.task.case)
    assert grade is not None
    assert grade.mark == again
