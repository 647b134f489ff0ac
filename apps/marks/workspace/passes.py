"""Handing a script on, and asking the captain.

| reason | effect on the script |
|---|---|
| skip | returned to the queue; this marker gets it again when nothing else is left |
| new approach, unsure, statement faulty | reserved for this marker, with the draft, until the captain has answered |
| I know whose it is | returned for good: this marker never gets it again, and the draft is deleted |

A script that is marked for an appeal is in no queue. When it is returned, its appeals wait for another coach (`hearing_end`).
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.opening import openings
from apps.marks.access import TaskGone
from apps.marks.audit import audit
from apps.marks.leases import drafts_archive, lease_end, lease_keep
from apps.marks.models import Appeal, AppealState, AuditEvent, Mark, MarkingCase, MarkingTask, MarkState, Pass, PassReason, Slot
from apps.marks.team.conflicts import papers_in_conflict
from apps.marks.workspace.claims import QUESTIONS
from apps.reasoning.marking.schemes.scheme import text_clean
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, WORDS_LENGTH

PASSED = "task.passed"
KEPT_AFTER_ANSWER = timedelta(hours=1)


class PassRefused(Exception):
    """The script cannot be handed on, or the question cannot be answered; the message gives the reason."""


@transaction.atomic
def task_pass(*, task: MarkingTask, user: User, reason: str, words: str = "") -> Pass:
    """Hand a script on, or ask the captain about it. Raises `TaskGone`, `PassRefused`.

    For a hearing only the record is kept; the returned row is not stored.
    """
    words = text_clean(words)
    if reason not in PassReason.values:
        raise PassRefused("Choose a reason for handing the script on.")
    if len(words) > REASON_LENGTH:
        raise PassRefused(f"The text is longer than {REASON_LENGTH} characters. Shorten it.")
    is_question = reason in QUESTIONS
    if is_question and task.case.problem.captain_id == user.pk:
        raise PassRefused("You are the captain of this problem, so the ruling is yours.")
    is_held = lease_keep(task, user) if is_question else lease_end(task, user)
    if not is_held:
        raise TaskGone("This script is no longer assigned to you.")
    passed = Pass(task=task, person=user, reason=reason, words=words)
    audit(PASSED, actor=user, case=task.case, slot=task.slot, reason=reason, words=words)
    if task.slot == Slot.APPEAL and not is_question:
        hearing_end(task, keeps_draft=reason != PassReason.CONFLICT)
        return passed
    if reason == PassReason.CONFLICT:
        Mark.objects.filter(task=task, marker=user, state=MarkState.DRAFT).delete()
    passed.save()
    return passed


@transaction.atomic
def hearing_end(task: MarkingTask, *, keeps_draft: bool = True) -> None:
    """End a hearing without an answer. Its task is removed, and its appeals wait for a coach unless one hears them already.

    A draft is kept in the record. A mark that the record names, because it was sealed once, stays as a void mark.
    """
    case = MarkingCase.objects.select_for_update(of=("self",)).get(pk=task.case_id)
    if AuditEvent.objects.filter(case=case, mark__task=task).exists():
        Mark.objects.filter(task=task, state=MarkState.DRAFT).update(state=MarkState.VOID)
        MarkingTask.objects.filter(pk=task.pk).update(assignee=None, lease_until=None, done_at=timezone.now())
    else:
        if keeps_draft:
            drafts_archive(task.pk, to=None)
        Mark.objects.filter(task=task, state=MarkState.DRAFT).delete()
        MarkingTask.objects.filter(pk=task.pk).delete()
    if not case.tasks.filter(slot=Slot.APPEAL, pk__gt=task.pk).exists():
        Appeal.objects.filter(grade__case=case, state=AppealState.HEARD).update(state=AppealState.WRITTEN)


def knows_author(case: MarkingCase, user: User) -> bool:
    """Whether the user handed the script on because they know its author, opened its identity, or has a conflict."""
    known = AuditEvent.objects.filter(case=case, actor=user, verb=PASSED, body__reason=PassReason.CONFLICT)
    paper = case.version.submission.paper_id
    is_kept = papers_in_conflict(user, case.problem.contest).filter(paper=paper).exists()
    return is_kept or known.exists() or openings().filter(by=user, paper=paper).exists()


@transaction.atomic
def question_answer(*, question: Pass, by: User, words: str) -> Pass:
    """Answer a question; the script returns to the marker who asked. Raises `PassRefused`."""
    words = text_clean(words)
    if not words or len(words) > WORDS_LENGTH:
        raise PassRefused("Enter an answer of between one and 4,000 characters.")
    answer = {"answer": words, "answered_by": by, "answered_at": timezone.now()}
    if not Pass.objects.filter(pk=question.pk, reason__in=QUESTIONS, answered_at=None).update(**answer):
        raise PassRefused("This question has been answered already; your answer was not saved.")
    if question.person is not None:
        lease_keep(question.task, question.person, timezone.now() + KEPT_AFTER_ANSWER)
    audit("question.answered", actor=by, case=question.task.case, reason=question.reason, question=question.words, answer=words)
    question.refresh_from_db()
    return question
