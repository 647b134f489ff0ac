"""Questions to the captain, as captains and organisers read them, who may also be markers.

A question is a colleague's statement about a script. Readers do not see questions about scripts on which their own mark can
still change, except their own questions. Reading one is recorded in the ledger and excludes the reader from other slots of
the script.
"""

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from apps.accounts.models import User
from apps.contests.models import ContestCoach, ContestProblem
from apps.marks.access import problem_captained_for
from apps.marks.blindness import tasks_open
from apps.marks.models import Pass, Reveal, RevealKind
from apps.marks.workspace.claims import QUESTIONS

NO_QUESTION = "No such question."


def questions_for(user: User, problem: ContestProblem) -> QuerySet[Pass]:
    """The questions on a problem that this captain or organiser may read, unanswered ones first."""
    own = {task.case_id for task in tasks_open(user, [problem])}
    rows = Pass.objects.filter(task__case__problem=problem, reason__in=QUESTIONS)
    rows = rows.filter(Q(person=user) | ~Q(task__case__in=own))
    rows = rows.select_related("task__case__version__submission__paper", "person", "answered_by")
    return rows.order_by(F("answered_at").desc(nulls_first=True), "at")


@transaction.atomic
def questions_shown(user: User, problem: ContestProblem) -> list[Pass]:
    """The same for their page. Records once per script that a colleague's question was shown."""
    # Serialise with this user's claims in other windows, so that none falls between reading and recording.
    ContestCoach.objects.select_for_update().filter(contest=problem.contest_id, person=user).first()
    rows = list(questions_for(user, problem))
    known = Reveal.objects.filter(case__problem=problem, person=user, kind=RevealKind.QUESTION).values_list("case", flat=True)
    shown = {row.task.case_id for row in rows if row.person_id != user.pk} - set(known)
    Reveal.objects.bulk_create(
        Reveal(case_id=case, person=user, kind=RevealKind.QUESTION, trigger="questions") for case in sorted(shown)
    )
    return rows


def question_get_for(user: User, pass_id: int) -> Pass:
    """A question that this user may read and answer, or `Http404`."""
    rows = Pass.objects.select_related("task__case__problem__contest", "task__case__version__submission__paper")
    found = get_object_or_404(rows, pk=pass_id)
    problem = problem_captained_for(user, found.task.case.problem.public_id)
    if not questions_for(user, problem).filter(pk=found.pk).exists():
        raise Http404(NO_QUESTION)
    return found
