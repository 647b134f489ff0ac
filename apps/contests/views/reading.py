"""The list of contests and the page of a contest for its coaches."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.contests import selectors
from apps.contests.access import (
    READABLE,
    coach_of,
    contest_get_for,
    contest_listed_for,
    contest_may_create,
    papers_may_read,
    reveal_may,
    roster_may_read,
)
from apps.contests.asking import coach_question, move_question
from apps.contests.forms import CoachForm, ProblemForm
from apps.contests.models import Contest, ContestState
from apps.contests.services import MOVES
from apps.contests.windows import adding_refusal, hand_in_refusal

LABELS = {
    "open": "Open contest",
    "mark": "Begin marking",
    "reopen": "Reopen",
    "close": "Close contest",
    "resume": "Resume marking",
}


@require_GET
def contest_list(request: HttpRequest) -> HttpResponse:
    """List the contests that the user coaches or takes part in."""
    user = user_of(request)
    context = {"contests": contest_listed_for(user), "may_create": contest_may_create(user)}
    return render(request, "contests/contest_list.html", context)


@require_GET
def contest_detail(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Show the contest to a coach; redirect a student to their own page."""
    user = user_of(request)
    contest = contest_get_for(user, contest_id)
    return contest_page(request, user, contest)


def contest_page(
    request: HttpRequest,
    user: User,
    contest: Contest,
    *,
    problem_form: ProblemForm | None = None,
    coach_form: CoachForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the page of a contest; rejected forms keep their input and errors."""
    coach = coach_of(user, contest)
    if coach is None:
        return redirect("submissions:own", contest_id=contest.public_id)
    problems = list(selectors.problem_list(contest))
    context = {
        "contest": contest,
        "problems": problems,
        "is_captain": any(problem.captain_id == user.pk for problem in problems),
        "refusal": hand_in_refusal(contest),
        "coach": coach,
        "coaches": [(one, coach_question(one, problems, user)) for one in selectors.coach_list(contest)],
        "papers_count": contest.papers.count(),
        "may_read_papers": papers_may_read(user, contest),
        "is_marked": contest.state in READABLE,
        "may_read_roster": roster_may_read(user, contest),
        "may_reveal": reveal_may(user, contest),
        "is_preparing": contest.state == ContestState.PREPARING,
        "may_add": not adding_refusal(contest),
        "moves": [
            (verb, LABELS[verb], move_question(contest, verb))
            for verb, (sources, _) in MOVES.items()
            if contest.state in sources
        ],
        "problem_form": problem_form or ProblemForm(contest, user, auto_id="problem_%s"),
        "coach_form": coach_form or CoachForm(auto_id="coach_%s"),
    }
    return render(request, "contests/contest_detail.html", context, status=status)
