"""Calibration scripts and seeded re-marks: assigned automatically, without effect on grades, reported as figures."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import CaseState, FinalGrade, Mark, MarkingCase, MarkingSetup, MarkingTask, Reveal, Slot
from apps.marks.sealing.calibration import (
    CalibrationRefused,
    agreed_for,
    calibration_set,
    drift_figures,
    gate_refusal,
    remark_due,
    task_ahead,
)
from apps.marks.sealing.sealing import NotReady, cases_settle, mark_unseal
from apps.marks.workspace.claims import task_next
from tests.marks.factory import ONE_PLACE, claimed, marker, past_grace, problem_to_mark, sealed, task_whole

ClientFor = Callable[[User | None], Client]


def settled(problem: ContestProblem, user: User, line: str = "A1 A2") -> MarkingCase:
    """Return a settled script with one mark."""
    reason = ("reason", {"words": "The error does not matter."})
    mark = past_grace(sealed(claimed(problem, user), user, ("claim", {"line": line}), ("verdict", ONE_PLACE), reason))
    cases_settle(problem.contest)
    mark.task.case.refresh_from_db()
    assert mark.task.case.state == CaseState.SETTLED
    return mark.task.case


def test_a_calibration_script_comes_first_and_counts_for_nothing(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=2)
    case = settled(problem, bob)
    calibration_set(case=case, by=bob, is_on=True)
    task = claimed(problem, dana)
    assert (task.slot, task.case) == (Slot.CALIBRATION, case)
    mark = sealed(task, dana, ("claim", {"line": "A1"}), ("verdict", ONE_PLACE))
    past_grace(mark)
    cases_settle(problem.contest)
    assert FinalGrade.objects.get(case=case).points == 7
    assert claimed(problem, dana).slot == Slot.FIRST
    agreed = agreed_for(mark)
    assert agreed is not None
    assert [agreed.difference, [one.code for one in agreed.items]] == [-4, ["A2"]]


def test_two_markers_who_claim_a_free_calibration_task_get_one_each(
    bob: User, dana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    eve = marker("eve")
    problem = problem_to_mark(bob, dana, eve, scripts=1)
    case = settled(problem, bob)
    calibration_set(case=case, by=bob, is_on=True)
    free = MarkingTask.objects.create(case=case, slot=Slot.CALIBRATION)

    def eve_is_faster() -> datetime:
        MarkingTask.objects.filter(pk=free.pk).update(assignee=eve)
        return datetime.now(UTC)

    monkeypatch.setattr(timezone, "now", eve_is_faster)
    key = task_ahead(problem, dana, set())
    monkeypatch.undo()
    assert MarkingTask.objects.get(pk=free.pk).assignee == eve
    assert key not in (None, free.pk)
    assert MarkingTask.objects.get(pk=key).assignee == dana


def test_a_free_calibration_task_is_claimed_before_another_is_created(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    case = settled(problem, bob)
    calibration_set(case=case, by=bob, is_on=True)
    free = MarkingTask.objects.create(case=case, slot=Slot.CALIBRATION)
    assert task_ahead(problem, dana, set()) == free.pk


def test_the_agreed_mark_is_shown_only_after_sealing(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    calibration_set(case=settled(problem, bob), by=bob, is_on=True)
    task = claimed(problem, dana)
    address = reverse("marks:reveal", kwargs={"task_id": task.public_id})
    client = client_for(dana)
    assert client.get(address).status_code == 404
    workspace = client.get(reverse("marks:task", kwargs={"task_id": task.public_id})).content.decode()
    assert "alibration" not in workspace, "a calibration script looks like any other script"
    sealed(task, dana, ("claim", {"line": "A1"}), ("verdict", ONE_PLACE))
    assert "Agreed: <strong>7</strong>, you: <strong>3</strong>" in client.get(address).content.decode()


def test_calibration_comes_first_when_the_setup_requires_it(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=3, needs_calibration=True)
    assert "captain has chosen" in gate_refusal(problem, dana)
    assert task_next(problem, dana) is None
    assert gate_refusal(problem, bob) == "", "the captain starts"
    calibration_set(case=settled(problem, bob), by=bob, is_on=True)
    assert "first" in gate_refusal(problem, dana)
    task = claimed(problem, dana)
    assert task.slot == Slot.CALIBRATION
    assert task_next(problem, dana, after=task) is None, "no other script is claimed in advance"
    sealed(task, dana, ("claim", {"line": "A1 A2"}))
    assert claimed(problem, dana).slot == Slot.FIRST


def test_only_settled_scripts_become_calibration_scripts(bob: User) -> None:
    problem_to_mark(bob, scripts=1)
    with pytest.raises(CalibrationRefused, match="not settled"):
        calibration_set(case=MarkingCase.objects.get(), by=bob, is_on=True)


def test_the_calibration_page_is_for_captains_and_organisers(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    case = settled(problem, bob)
    page = reverse("marks:calibration", kwargs={"problem_id": problem.public_id})
    change = reverse("marks:calibration_change", kwargs={"case_id": case.public_id})
    assert client_for(dana).get(page).status_code == 404
    assert client_for(dana).post(change, {"is_on": "1"}).status_code == 404
    assert client_for(bob).post(change, {"is_on": "1"}).status_code == 302
    case.refresh_from_db()
    assert case.is_calibration
    assert "Remove from calibration" in client_for(bob).get(page).content.decode()


def again(problem: ContestProblem, bob: User) -> MarkingCase:
    """Return a settled script whose re-mark by the same marker is due."""
    case = settled(problem, bob)
    rested = timezone.now() - timedelta(days=1)
    Mark.objects.filter(task__case=case).update(sealed_at=rested)
    return case


def test_a_settled_script_comes_back_unannounced_and_its_grade_stays(bob: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, scripts=2, remark_percent=100)
    case = again(problem, bob)
    assert remark_due(problem, bob) == case
    task = claimed(problem, bob)
    assert (task.slot, task.case) == (Slot.REMARK, case)
    page = client_for(bob).get(reverse("marks:task", kwargs={"task_id": task.public_id})).content.decode()
    assert "e-mark" not in page
    assert '"ticks": []' in page, "the page shows nothing of the first mark"
    past_grace(sealed(task, bob, ("claim", {"line": "A1"}), ("verdict", ONE_PLACE)))
    cases_settle(problem.contest)
    assert FinalGrade.objects.get(case=case).points == 7
    case.refresh_from_db()
    assert case.state == CaseState.SETTLED
    assert remark_due(problem, bob) is None, "a script comes back only once"
    (figure,) = drift_figures(problem)
    assert (figure.marker, figure.count, figure.equal, figure.within_one, figure.signed) == (bob, 1, 0, 0, None)


def test_no_script_comes_back_too_soon_or_without_a_share_in_the_setup(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=2, remark_percent=100)
    settled(problem, bob)
    assert remark_due(problem, bob) is None, "it was sealed a minute ago"
    MarkingSetup.objects.filter(problem=problem).update(remark_percent=0)
    Mark.objects.update(sealed_at=timezone.now() - timedelta(days=1))
    problem = ContestProblem.objects.get(pk=problem.pk)
    assert remark_due(problem, bob) is None
    assert claimed(problem, bob).slot == Slot.FIRST


def test_reading_the_agreed_mark_ends_the_grace_time(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    calibration_set(case=settled(problem, bob), by=bob, is_on=True)
    task = claimed(problem, dana)
    sealed(task, dana, ("claim", {"line": "A1"}), ("verdict", ONE_PLACE))
    mark_unseal(task=task, user=dana)
    sealed(task_whole(task), dana, ("claim", {"line": "A1 A2"}), ("reason", {"words": "The error does not matter."}))
    client_for(dana).get(reverse("marks:reveal", kwargs={"task_id": task.public_id}))
    reveal = Reveal.objects.get(person=dana)
    assert (reveal.trigger, reveal.mark) == ("calibration", FinalGrade.objects.get().mark)
    with pytest.raises(NotReady, match="before anything is shown"):
        mark_unseal(task=task, user=dana)
    client_for(dana).get(reverse("marks:reveal", kwargs={"task_id": task.public_id}))
    assert Reveal.objects.count() == 1
