"""A marker who left, abandoned a script or answered a question about it blocks no case, and drafts are kept."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.services import captain_set, coach_remove
from apps.marks.coordination.comparing import fresh_dismiss
from apps.marks.coordination.coordination import CoordinationRefused, Proposal, claim_make, ruling_make
from apps.marks.models import AuditEvent, CaseState, Coordination, FinalGrade, MarkingCase, MarkingTask, Slot
from apps.marks.sealing.sealing import cases_settle
from apps.marks.workspace.claims import task_next
from apps.marks.workspace.passes import question_answer, task_pass
from tests.marks.factory import claimed, commanded, marker, past_grace, problem_to_mark, sealed
from tests.marks.sealing.test_coordination import BOTH, SECRET, SIX, disputed, error

ClientFor = Callable[[User | None], Client]


def lapsed(task: MarkingTask) -> None:
    MarkingTask.objects.filter(pk=task.pk).update(lease_until=timezone.now() - timedelta(minutes=1))


def test_a_fresh_mark_can_be_dismissed_once_its_lease_ran_out(bob: User, dana: User) -> None:
    eve = marker("eve")
    problem, case = disputed(bob, dana, eve, lines=(BOTH, "A1"))
    task = claimed(problem, eve)
    commanded(task, eve, "tick", code="A1")
    assert not fresh_dismiss(case=case, by=bob), "Eve holds the task"
    lapsed(task)
    assert fresh_dismiss(case=case, by=bob)
    case.refresh_from_db()
    assert case.state == CaseState.DISPUTED
    assert AuditEvent.objects.get(verb="draft.left").actor == eve, "Eve's draft is kept"


def test_the_claim_of_a_former_coach_is_not_awaited(bob: User, dana: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    problem, _ = disputed(bob, dana, eve)
    captain_set(row=problem, captain=eve)
    coordination = Coordination.objects.get()
    claim_make(coordination=coordination, by=bob, line=BOTH)
    address = reverse("marks:coordination", kwargs={"coordination_id": coordination.public_id})
    assert SECRET not in client_for(bob).get(address).content.decode()
    with pytest.raises(CoordinationRefused, match="claims of all"):
        ruling_make(coordination=coordination, by=eve, proposal=Proposal(SIX, "The slip."), based_on=1)
    coach_remove(coach=problem.contest.coaches.get(person=dana))
    page = client_for(eve).get(address).content.decode()
    assert SECRET in page
    assert "left the contest" in page
    coordination.refresh_from_db()
    ruling_make(coordination=coordination, by=eve, proposal=Proposal(SIX, "The slip."), based_on=coordination.row_version)
    assert FinalGrade.objects.get().points == 6


def test_a_coach_who_answered_a_question_makes_no_fresh_mark_of_the_script(bob: User, dana: User) -> None:
    eve = marker("eve")
    problem = problem_to_mark(bob, dana, eve, scripts=1, markers=2)
    captain_set(row=problem, captain=eve)
    problem.refresh_from_db()
    task = claimed(problem, bob)
    question = task_pass(task=task, user=bob, reason="unsure", words="Is this enough?")
    question_answer(question=question, by=eve, words="Yes.")
    assert task_next(problem, eve) is None, "Eve has read the script with a marker's words"
    past_grace(sealed(task, bob, ("claim", {"line": BOTH})))
    past_grace(sealed(claimed(problem, dana), dana, ("claim", {"line": "A1"}), error()))
    cases_settle(problem.contest)
    assert not MarkingTask.objects.filter(slot=Slot.THIRD).exists(), "no coach is eligible for a fresh mark"
    assert MarkingCase.objects.get().state == CaseState.DISPUTED
