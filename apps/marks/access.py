"""Who may mark what: coaches of a contest that is being marked, each their own tasks; organisers and captains a little more.

Whoever is neither gets `Http404`. A task that went to somebody else is `TaskGone` for who had it, and nothing for the others.
"""

import uuid

from django.http import Http404
from django.shortcuts import get_object_or_404

from apps.accounts.models import User
from apps.contests.access import coach_of
from apps.contests.models import ContestCoach, ContestProblem, ContestState
from apps.marks.models import MarkingTask

NO_TASK = "There is no such script to mark."
NO_PROBLEM = "There is no such problem to mark."


class TaskGone(Exception):
    """The script is being marked by somebody else by now."""


class TaskRests(TaskGone):
    """The script is still with this person, but its contest is not being marked any more, or not just now."""


def problem_marked_for(user: User, public_id: uuid.UUID) -> ContestProblem:
    """A problem of a contest that the person coaches and that is being marked, or `Http404`."""
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
    """The captain rules on a problem; organisers may stand in."""
    coach = coach_of(user, problem.contest)
    return coach is not None and (problem.captain_id == user.pk or coach.is_organiser)


def task_get_for(user: User, public_id: uuid.UUID) -> MarkingTask:
    """A task that the person holds or has done.

    Raises `Http404`, `TaskGone` where a colleague has it, and `TaskRests` where its contest is not being marked now.
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
            raise TaskRests(f"The contest is {contest.get_state_display().lower()} now. What was saved of your mark is kept.")
        raise Http404(NO_TASK)
    if task.assignee_id != user.pk:
        raise TaskGone("This script is no longer yours: the lease ran out, or you handed it on.")
    return task


def marker_row(user: User, problem: ContestProblem) -> ContestCoach | None:
    """What the person is in the contest of a problem."""
    return coach_of(user, problem.contest)
