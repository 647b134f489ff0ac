"""Access to marking: coaches of a contest that is being marked, each to their own tasks.

Organisers and captains may do a little more. Other users get `Http404`. If a task was reassigned, its former holder gets
`TaskGone`; other users get `Http404`.
"""

import uuid

from django.http import Http404
from django.shortcuts import get_object_or_404

from apps.accounts.models import User
from apps.contests.access import coach_of
from apps.contests.models import ContestCoach, ContestProblem, ContestState
from apps.marks.models import MarkingTask

NO_TASK = "No such script to mark."
NO_PROBLEM = "No such problem to mark."


class TaskGone(Exception):
    """Another marker holds the script now."""


class MarkingInactive(TaskGone):
    """The script is still assigned to this marker, but its contest is not being marked at the moment."""


def problem_marked_for(user: User, public_id: uuid.UUID) -> ContestProblem:
    """A problem that this coach may mark now, or `Http404`."""
    rows = ContestProblem.objects.select_related("contest", "problem", "version", "captain")
    problem = rows.filter(public_id=public_id).first()
    if problem is None or problem.contest.state != ContestState.MARKING or coach_of(user, problem.contest) is None:
        raise Http404(NO_PROBLEM)
    return problem


def problem_organised_for(user: User, public_id: uuid.UUID) -> ContestProblem:
    """The same for an organiser of the contest, or `Http404`."""
    problem = problem_marked_for(user, public_id)
    coach = coach_of(user, problem.contest)
    if coach is None or not coach.is_organiser:
        raise Http404(NO_PROBLEM)
    return problem


def problem_captained_for(user: User, public_id: uuid.UUID) -> ContestProblem:
    """The same for the captain of the problem or an organiser, or `Http404`."""
    problem = problem_marked_for(user, public_id)
    if not captain_is(user, problem):
        raise Http404(NO_PROBLEM)
    return problem


def captain_is(user: User, problem: ContestProblem) -> bool:
    """Whether this user may rule on the problem: its captain, or an organiser as a deputy."""
    coach = coach_of(user, problem.contest)
    return coach is not None and (problem.captain_id == user.pk or coach.is_organiser)


def task_get_for(user: User, public_id: uuid.UUID) -> MarkingTask:
    """A task that this marker holds or has finished.

    Raises `Http404`, `TaskGone` if a colleague holds it, and `MarkingInactive` if its contest is not being marked.
    """
    rows = MarkingTask.objects.select_related(
        "case__problem__contest",
        "case__problem__problem",
        "case__problem__version",
        "case__problem__setup__scheme",
        "case__version__submission__paper",
    )
    task = get_object_or_404(rows, public_id=public_id)
    contest = task.case.problem.contest
    if coach_of(user, contest) is None:
        raise Http404(NO_TASK)
    if contest.state != ContestState.MARKING:
        if task.assignee_id == user.pk and task.done_at is None:
            raise MarkingInactive(f"The contest is {contest.get_state_display().lower()} now. Your saved draft is kept.")
        raise Http404(NO_TASK)
    if task.assignee_id != user.pk:
        raise TaskGone("This script is no longer assigned to you: your lease expired, or you handed the script on.")
    return task


def marker_row(user: User, problem: ContestProblem) -> ContestCoach | None:
    """The user's coach row in the contest of a problem; None if they do not coach it."""
    return coach_of(user, problem.contest)
