"""A hearing that was handed on, reopened or left by its coach waits for another coach, and no appeal is lost."""

import pytest

from apps.accounts.models import User
from apps.contests.services import coach_remove
from apps.marks.models import Appeal, AppealState, AuditEvent, MarkingTask, PassReason
from apps.marks.sealing.sealing import mark_unseal
from apps.marks.workspace.passes import task_pass
from apps.results import appeals
from tests.marks.factory import commanded, marker, past_grace, sealed, task_whole
from tests.results.factory import appeal_of, case_of, day_after, marked, points_now

ANSWER = "We read the last step again; it is right."


@pytest.mark.parametrize("reason", [PassReason.SKIP, PassReason.CONFLICT])
def test_a_hearing_handed_on_waits_for_the_next_coach(bob: User, charlie: User, reason: PassReason) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = marked(bob, charlie, eve, fay)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    task = task_whole(appeals.appeal_take(appeal=appeal, by=eve))
    commanded(task, eve, "tick", code="A1")
    task_pass(task=task, user=eve, reason=reason, words="Too close.")
    appeal.refresh_from_db()
    assert appeal.state == AppealState.WRITTEN
    assert AuditEvent.objects.get(verb="task.passed").body["slot"] == "appeal"
    assert AuditEvent.objects.filter(verb="draft.left", actor=eve).exists() is (reason == PassReason.SKIP)
    assert ("know" in appeals.hearing_refusal(eve, appeal)) is (reason == PassReason.CONFLICT)
    again = task_whole(appeals.appeal_take(appeal=appeal, by=fay))
    past_grace(sealed(again, fay, ("claim", {"line": "A1 A2"})))
    appeals.appeal_uphold(appeal=appeal, by=fay, answer=ANSWER)
    assert points_now(case_of(problem, charlie)) == "7.00"


def test_a_reopened_hearing_can_be_handed_on(bob: User, charlie: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = marked(bob, charlie, eve, fay)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    task = task_whole(appeals.appeal_take(appeal=appeal, by=eve))
    sealed(task, eve, ("claim", {"line": "A1 A2"}))
    mark_unseal(task=task, user=eve)
    task_pass(task=task, user=eve, reason=PassReason.SKIP)
    appeal.refresh_from_db()
    assert appeals.mark_sealed(case_of(problem, charlie), eve) is None
    assert appeals.hearing_refusal(fay, appeal) == appeals.hearing_refusal(eve, appeal) == ""
    assert appeals.appeal_take(appeal=appeal, by=eve) != task


def test_a_question_about_an_appeal_keeps_its_hearer(bob: User, charlie: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = marked(bob, charlie, eve, fay)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    task = task_whole(appeals.appeal_take(appeal=appeal, by=eve))
    task_pass(task=task, user=eve, reason=PassReason.UNSURE, words="How much?")
    appeal.refresh_from_db()
    assert "colleague" in appeals.hearing_refusal(fay, appeal)
    assert appeals.task_of(case_of(problem, charlie), eve) == task


def test_another_coach_hears_an_appeal_after_its_hearer_left(bob: User, charlie: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = marked(bob, charlie, eve, fay)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    task = task_whole(appeals.appeal_take(appeal=appeal, by=eve))
    commanded(task, eve, "tick", code="A1")
    coach_remove(coach=problem.contest.coaches.get(person=eve))
    appeal.refresh_from_db()
    assert appeals.hearing_refusal(fay, appeal) == ""
    again = appeals.appeal_take(appeal=appeal, by=fay)
    assert list(MarkingTask.objects.filter(slot="appeal")) == [again]
    appeal.refresh_from_db()
    assert appeal.state == AppealState.HEARD
    assert AuditEvent.objects.filter(verb="draft.left", actor=eve).exists()


def test_a_later_appeal_waits_while_a_colleague_hears_another_about_the_text(bob: User, charlie: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = marked(bob, charlie, eve, fay)
    day_after(problem.contest, bob)
    first = appeal_of(problem, charlie)
    task = task_whole(appeals.appeal_take(appeal=first, by=eve))
    past_grace(sealed(task, eve, ("claim", {"line": "A1 A2"})))
    later = appeal_of(problem, charlie, "verdict:v2")
    assert "colleague" in appeals.hearing_refusal(fay, later)
    with pytest.raises(appeals.AppealRefused, match="colleague"):
        appeals.appeal_take(appeal=later, by=fay)
    assert appeals.hearing_of(Appeal.objects.get(pk=first.pk), eve) == task
    appeals.appeal_uphold(appeal=first, by=eve, answer=ANSWER)
    assert points_now(case_of(problem, charlie)) == "7.00"
    assert appeals.hearing_refusal(fay, later) == "", "the hearing is over"
    assert appeals.appeal_take(appeal=later, by=fay) != task


def test_the_hearer_of_a_text_also_gets_a_later_appeal(bob: User, charlie: User) -> None:
    eve = marker("eve")
    problem = marked(bob, charlie, eve)
    day_after(problem.contest, bob)
    task = appeals.appeal_take(appeal=appeal_of(problem, charlie), by=eve)
    later = appeal_of(problem, charlie, "verdict:v2")
    assert appeals.hearing_refusal(eve, later) == ""
    assert appeals.appeal_take(appeal=later, by=eve) == task
