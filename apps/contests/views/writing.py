"""Views that create a contest and change its settings, problems and state."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.contests import deletion, services
from apps.contests.access import creator_of, organised_get_for
from apps.contests.asking import deletion_question
from apps.contests.forms import ContestForm, ProblemForm, TimesForm
from apps.contests.models import Contest, ContestProblem
from apps.contests.times import times_set
from apps.contests.views.reading import contest_page
from apps.ui.plain_text import without_nul
from apps.ui.refusals import refusals_shown
from apps.ui.sent import row_version

STALE = "Another user changed the contest meanwhile. Your change was not saved; check the current state and try again."


@require_http_methods(["GET", "HEAD", "POST"])
def contest_create(request: HttpRequest) -> HttpResponse:
    """Create a contest."""
    user = creator_of(request)
    form = ContestForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        contest = services.contest_create(settings=form.settings(), by=user)
        return redirect("contests:detail", contest_id=contest.public_id)
    return render(request, "contests/contest_edit.html", {"form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def contest_edit(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Edit the settings of a contest."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    if request.method != "POST":
        return _settings_page(request, ContestForm(initial=ContestForm.initial_of(contest)), contest)
    form = ContestForm(request.POST, contest=contest)
    if form.is_valid():
        try:
            services.contest_save(contest=contest, settings=form.settings(), based_on=row_version(request), by=user)
        except services.ContestChanged:
            messages.error(request, STALE)
        except services.ContestRefused as error:
            form.add_error(None, str(error))
            return _settings_page(request, form, contest)
        return redirect("contests:detail", contest_id=contest_id)
    return _settings_page(request, form, contest)


@require_POST
def contest_delete(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Delete a contest without texts."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    try:
        deletion.contest_delete(contest=contest, based_on=row_version(request), by=user)
    except services.ContestChanged:
        messages.error(request, STALE)
    except services.ContestRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Deleted “{contest.title}”. Staff can restore it.")
        return redirect("contests:list")
    return redirect("contests:detail", contest_id=contest_id)


@require_POST
def problem_change(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Add a problem, `remove` one, set its captain (`captain_of`, with a user name or none) or its times (`times_of`)."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    with refusals_shown(request, services.ContestRefused):
        if row_id := request.POST.get("remove", ""):
            services.problem_remove(row=_row(contest, row_id), by=user)
        elif row_id := request.POST.get("captain_of", ""):
            coach = contest.coaches.filter(person__username=without_nul(request.POST).get("captain", "")).first()
            services.captain_set(row=_row(contest, row_id), captain=coach.person if coach else None, by=user)
        elif row_id := request.POST.get("times_of", ""):
            row = _row(contest, row_id)
            times = TimesForm(row, request.POST)
            with timezone.override(contest.zone):
                is_valid = times.is_valid()
            if not is_valid:
                raise services.ContestRefused("The times were not changed: enter a date and a time, or leave the field empty.")
            times_set(row=row, by=user, **times.cleaned_data)
        else:
            form = ProblemForm(contest, user, request.POST, auto_id="problem_%s")
            if not form.is_valid():
                return contest_page(request, user, contest, problem_form=form, status=422)
            services.problem_add(contest=contest, by=user, **form.cleaned_data)
    return redirect("contests:detail", contest_id=contest_id)


@require_POST
def contest_move(request: HttpRequest, contest_id: uuid.UUID, verb: str) -> HttpResponse:
    """Apply `open`, `mark`, `reopen`, `close` or `resume` if the contest is unchanged since `based_on`."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    if verb not in services.MOVES:
        raise Http404("There is no such page.")
    try:
        moved = services.contest_move(contest=contest, verb=verb, based_on=row_version(request), by=user)
    except services.ContestChanged:
        messages.error(request, STALE)
    except services.ContestRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The contest is {moved.get_state_display().lower()}.")
    return redirect("contests:detail", contest_id=contest_id)


def _row(contest: Contest, public_id: str) -> ContestProblem:
    try:
        row = contest.problems.filter(public_id=uuid.UUID(public_id)).first()
    except ValueError:
        row = None
    if row is None:
        raise Http404("There is no such problem.")
    return row


def _settings_page(request: HttpRequest, form: ContestForm, contest: Contest) -> HttpResponse:
    context = {
        "form": form,
        "contest": contest,
        "based_on": request.POST.get("based_on") or contest.row_version,
        "deletion_refusal": deletion.deletion_refusal(contest),
        "deletion_question": deletion_question(contest),
    }
    return render(request, "contests/contest_edit.html", context, status=422 if form.errors else 200)
