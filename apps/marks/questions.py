"""Questions to the captain as those who may answer read them: captain and organisers, who mark as well.

A question is a colleague's word about a script. Nobody reads one about a script on which a mark of their own can still change,
their own questions apart. Whoever was shown one is written into the ledger and is not given the script in another slot.
"""

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from apps.accounts.models import User
from apps.contests.models import ContestCoach, ContestProblem
from apps.marks.access import problem_captained_for
from apps.marks.blindness import tasks_open
from apps.marks.claims import QUESTIONS
from apps.marks.models import Pass, Reveal, RevealKind

NO_QUESTION = "There is no such question."


def questions_for(user: User, problem: ContestProblem) -> QuerySet[Pass]:
    """The questions on a problem that this captain or organiser may read, those without an answer first."""
    own = {task.case_id for task in tasks_open(user, [problem])}
    rows = Pass.objects.filter(task__case__problem=problem, reason__in=QUESTIONS)
    rows = rows.filter(Q(person=user) | ~Q(task__case__in=own))
    rows = rows.select_related("task__case__version__submission__paper", "person", "answered_by")
    return rows.order_by(F("answered_at").desc(nulls_first=True), "at")


@transaction.atomic
def questions_shown(user: User, problem: ContestProblem) -> list[Pass]:
    """The same for their page; that colleagues' questions were shown is kept in the ledger, once for each script."""
    # A claim of the same person in another window comes before or after, never between the look and the row of it.
    ContestCoach.objects.select_for_update().filter(contest=problem.contest_id, person=user).first()
    rows = list(questions_for(user, problem))
    known = Reveal.objects.filter(case__problem=problem, person=user, kind=RevealKind.QUESTION).values_list("case", flat=True)
    shown = {row.task.case_id for row in rows if row.person_id != user.pk} - set(known)
    Reveal.objects.bulk_create(
        Reveal(case_id=case, person=user, kind=RevealKind.QUESTION, trigger="questions") for case in sorted(shown)
    )
    return rows


def question_get_for(user: User, pass_id: int) -> Pass:
    """A question that this person may read and answer, or `Http404`."""
    rows = Pass.objects.select_related("task__case__problem__contest", "task__case__version__submission__paper")
    found = get_object_or_404(rows, pk=pass_id)
    problem = problem_captained_for(user, found.task.case.problem.public_id)
    if not questions_for(user, problem).filter(pk=found.pk).exists():
        raise Http404(NO_QUESTION)
    return found
