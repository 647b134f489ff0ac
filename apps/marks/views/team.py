"""The team of a contest: assignments, progress, conflicts and the table of all scripts, for captains and organisers."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.contests.access import coach_of, roster_may_read
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.marks.access import problem_captained_for
from apps.marks.blindness import problems_shut
from apps.marks.models import MarkerConflict
from apps.marks.office.office import office_get_for
from apps.marks.office.statistics import MEANS_FROM
from apps.marks.sealing.sealing import cases_settle
from apps.marks.team import assigning, conflicts
from apps.marks.team.matrix import STATES, Wanted, matrix_of
from apps.marks.team.progress import progress_of
from apps.ui.plain_text import without_nul
from apps.ui.refusals import refusals_shown
from apps.ui.sent import whole_number


@never_cache
@require_GET
def team(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Markers by problem: what is assigned, how far they are; forms to assign and to hand over."""
    user = user_of(request)
    contest, problems = office_get_for(user, contest_id)
    cases_settle(contest)
    shut = problems_shut(user, problems)
    context = {
        "contest": contest,
        "found": [progress_of(problem, shows_points=problem.pk not in shut) for problem in problems],
        "shut": [problem for problem in problems if problem.pk in shut],
        "coaches": [coach.person for coach in contest.coaches.select_related("person")],
        "may_change": contest.state == ContestState.MARKING,
        "conflicts": conflicts.conflicts_of(contest) if roster_may_read(user, contest) else [],
        "choices": conflicts.choices_for(user, contest),
        "means_from": MEANS_FROM,
    }
    return render(request, "marks/team.html", context)


@require_POST
def team_assign(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Assign the scripts of a range of papers (`first`, `last`) to markers (`marker`), or to any free marker."""
    user = user_of(request)
    problem = problem_captained_for(user, problem_id)
    post = without_nul(request.POST)
    share = assigning.Share(
        first=post.get("first", ""),
        last=post.get("last", ""),
        is_split=post.get("is_whole") != "1",
        is_shared=post.get("is_shared") == "1",
    )
    markers = _coaches(problem, post.getlist("marker"))
    with refusals_shown(request, assigning.AssigningRefused):
        count = assigning.scripts_assign(problem=problem, markers=markers, share=share, by=user)
        to = ", ".join(marker.username for marker in markers) or assigning.FREE
        messages.success(request, f"{_scripts(count)} of problem {problem.label} assigned to {to}.")
    return redirect("office:team", contest_id=problem.contest.public_id)


@require_POST
def team_hand_over(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Take the unfinished scripts of a marker (`marker`), for another (`to`) or any free marker, with a reason."""
    user = user_of(request)
    problem = problem_captained_for(user, problem_id)
    post = without_nul(request.POST)
    with refusals_shown(request, assigning.AssigningRefused):
        chosen, to = _coaches(problem, post.getlist("marker")[:1]), _coaches(problem, post.getlist("to")[:1])
        if not chosen or (post.get("to") and not to):
            raise assigning.AssigningRefused("Choose a marker from the list.")
        count = assigning.scripts_hand_over(
            problem=problem, marker=chosen[0], to=to[0] if to else None, reason=post.get("reason", ""), by=user
        )
        to_words = to[0].username if to else assigning.FREE
        messages.success(request, f"{_scripts(count)} of problem {problem.label}: from {chosen[0].username} to {to_words}.")
    return redirect("office:team", contest_id=problem.contest.public_id)


@require_POST
def conflict_change(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Declare a conflict of a marker with a school or a group (`of`), or remove one (`remove`)."""
    user = user_of(request)
    contest, _ = office_get_for(user, contest_id)
    if not _organises(user, contest):
        raise Http404("There is no such page.")
    post = without_nul(request.POST)
    with refusals_shown(request, conflicts.ConflictRefused):
        if post.get("remove"):
            key = whole_number(post.get("remove", ""), 9)
            conflicts.conflict_remove(conflict=get_object_or_404(MarkerConflict, contest=contest, pk=key), by=user)
            messages.success(request, "The conflict was removed.")
        else:
            _declare(contest, user, post.get("marker", ""), post.get("of", ""))
            messages.success(request, "The conflict was declared. The marker gets no such script from now on.")
    return redirect("office:team", contest_id=contest.public_id)


@never_cache
@require_GET
def matrix(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Papers × problems; `?show=` filters by state, `?marker=` by the marker to whom scripts are assigned."""
    user = user_of(request)
    contest, problems = office_get_for(user, contest_id)
    cases_settle(contest)
    shut = problems_shut(user, problems)
    coaches = [coach.person for coach in contest.coaches.select_related("person")]
    named = request.GET.get("marker", "")
    marker = next((one for one in coaches if one.username == named), None)
    show = request.GET.get("show", "")
    wanted = Wanted(show if show in STATES else "", marker.pk if marker else 0)
    found = matrix_of(contest, problems, shut, wanted)
    context = {
        "contest": contest,
        "found": found,
        "heads": [(problem, sorted_counts(found.counts[problem.pk])) for problem in found.problems],
        "shut": [problem for problem in problems if problem.pk in shut],
        "coaches": coaches,
        "wanted": wanted,
        "marker": marker,
        "states": [(name, words) for name, (words, _) in STATES.items()],
    }
    return render(request, "marks/matrix.html", context)


def sorted_counts(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Words and number of scripts of each state of a problem, in the order of the work."""
    return [(words, counts[name]) for name, (words, _) in STATES.items() if counts.get(name) and name != "none"]


def _declare(contest: Contest, user: User, marker: str, named: str) -> None:
    person = next((one.person for one in contest.coaches.select_related("person") if one.person.username == marker), None)
    if person is None:
        raise conflicts.ConflictRefused("Choose a marker from the list.")
    kind, _, value = named.partition(":")
    groups = conflicts.choices_for(user, contest).groups if kind == "group" else []
    group = next((one for one in groups if str(one.public_id) == value), None)
    school = value if kind == "school" else ""
    conflicts.conflict_declare(contest=contest, person=person, school=school, group=group, by=user)


def _coaches(problem: ContestProblem, names: list[str]) -> list[User]:
    """The coaches of the contest with these user names, in the order of the names."""
    known = {coach.person.username: coach.person for coach in problem.contest.coaches.select_related("person")}
    return [known[name] for name in dict.fromkeys(names) if name in known]


def _organises(user: User, contest: Contest) -> bool:
    coach = coach_of(user, contest)
    return coach is not None and coach.is_organiser


def _scripts(count: int) -> str:
    return f"{count} script{'' if count == 1 else 's'}"
