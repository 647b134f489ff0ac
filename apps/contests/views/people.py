"""Views of coaches, the roster and identities."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import accounts_may_create, user_of
from apps.accounts.enrolling import password_address
from apps.accounts.models import User
from apps.contests import opening, selectors, services
from apps.contests.access import contest_get_for, organised_get_for, paper_get_for, reveal_may, rostered_get_for
from apps.contests.entering import students_enter
from apps.contests.forms import CoachForm, RosterGroupForm, StudentsForm
from apps.contests.groups import group_enter
from apps.contests.models import Contest, ContestState
from apps.contests.views.reading import contest_page
from apps.contests.windows import adding_refusal
from apps.ui.plain_text import without_nul
from apps.ui.refusals import refusals_shown


@require_POST
def coach_change(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Add a coach by user name, or remove one (`remove`)."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    try:
        if name := without_nul(request.POST).get("remove", ""):
            coach = contest.coaches.filter(person__username=name).first()
            if coach is None:
                raise Http404("There is no such coach.")
            services.coach_remove(coach=coach, by=user)
            messages.success(request, f"{name} is no longer a coach of “{contest.title}”.")
            return redirect("contests:list" if name == user.username else contest_address(contest))
        form = CoachForm(request.POST, auto_id="coach_%s")
        if form.is_valid():
            person = User.objects.filter(username=form.cleaned_data["username"], is_active=True).first()
            if person is not None:
                granted = {name: form.cleaned_data[name] for name in ("may_reveal", "is_organiser")}
                services.coach_add(contest=contest, person=person, by=user, **granted)
                return redirect(contest_address(contest))
            form.add_error("username", "No open account has this user name. Check the spelling.")
        return contest_page(request, user, contest, coach_form=form, status=422)
    except services.ContestRefused as error:
        messages.error(request, str(error))
    return redirect(contest_address(contest))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def roster(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Show the students without paper numbers; add those of a posted list who have an account, and list the others.

    With `create`, the others get accounts; their passwords are shown once, in the response itself.
    """
    user = user_of(request)
    contest = rostered_get_for(user, contest_id)
    form = StudentsForm(request.POST if request.method == "POST" else None)
    groups = RosterGroupForm(user, auto_id="group_%s")
    if request.method != "POST" or not form.is_valid():
        return _roster_page(request, contest, form, groups)
    pasted = form.cleaned_data["students"]
    does_create = "create" in request.POST and accounts_may_create(user)
    try:
        added, created = students_enter(contest=contest, pasted=pasted, does_create=does_create, by=user)
    except services.ContestRefused as error:
        form.add_error("students", f"{error} No students were added.")
        return _roster_page(request, contest, form, groups)
    if added or not pasted.unknown:
        messages.success(request, f"{added} added.")
    if pasted.repeated:
        messages.warning(request, f"More than once in the list: {', '.join(pasted.repeated[:20])}. Equal lines counted once.")
    if created:
        return _roster_page(request, contest, StudentsForm(), groups, created=created)
    if pasted.unknown:
        left = StudentsForm(initial={"students": pasted.unknown_lines})
        return _roster_page(request, contest, left, groups, unknown=pasted.unknown)
    return redirect("contests:roster", contest_id=contest_id)


@never_cache
@require_POST
def group_add(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Add all students of a group, or none."""
    user = user_of(request)
    contest = rostered_get_for(user, contest_id)
    form = RosterGroupForm(user, request.POST, auto_id="group_%s")
    if form.is_valid():
        group = form.cleaned_data["group"]
        try:
            added, known = group_enter(contest=contest, group=group, by=user)
        except services.ContestRefused as error:
            form.add_error("group", f"{error} No students were added.")
        else:
            already = f", {known} already in the contest" if known else ""
            messages.success(request, f"{added} added from “{group.name}”{already}.")
            return redirect("contests:roster", contest_id=contest_id)
    return _roster_page(request, contest, StudentsForm(), form)


@require_POST
def student_remove(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Remove a student before the contest opens."""
    user = user_of(request)
    contest = rostered_get_for(user, contest_id)
    identity = contest.identities.filter(person__username=without_nul(request.POST).get("username", "")).first()
    if identity is None:
        raise Http404("There is no such student.")
    with refusals_shown(request, services.ContestRefused):
        services.student_remove(identity=identity, by=user)
        messages.success(request, f"Removed {identity.name} from the contest.")
    return redirect("contests:roster", contest_id=contest_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def identity_reveal(request: HttpRequest, contest_id: uuid.UUID, paper_id: uuid.UUID) -> HttpResponse:
    """Open the identity of one paper for a recorded reason. The name is shown once, in the answer to the form."""
    user = user_of(request)
    contest = contest_get_for(user, contest_id)
    paper = paper_get_for(user, contest, paper_id)
    if not reveal_may(user, contest):
        raise Http404("There is no such page.")
    context: dict[str, object] = {"contest": contest, "paper": paper, "refusal": opening.opening_refusal(paper, user)}
    if request.method == "POST":
        try:
            context["identity"] = opening.identity_open(
                paper=paper, by=user, reason=without_nul(request.POST).get("reason", "")[:500]
            )
        except services.ContestRefused as error:
            context["error"] = str(error)
    return render(request, "contests/identity_reveal.html", context, status=422 if "error" in context else 200)


def _roster_page(
    request: HttpRequest, contest: Contest, form: StudentsForm, group_form: RosterGroupForm, **extra: Any
) -> HttpResponse:
    """`extra`: `unknown` lines of a list, or `created` accounts with their passwords."""
    context = {
        "contest": contest,
        "form": form,
        "group_form": group_form,
        "identities": selectors.roster(contest),
        "is_preparing": contest.state == ContestState.PREPARING,
        "may_add": not adding_refusal(contest),
        "reveals": selectors.reveal_list(contest),
        "openings": selectors.openings_after_sign_off(contest),
        "may_create_accounts": accounts_may_create(user_of(request)),
        "password_file": password_address(extra.get("created", [])),
        **extra,
    }
    return render(request, "contests/contest_roster.html", context, status=422 if form.errors or group_form.errors else 200)


def contest_address(contest: Contest) -> str:
    """The URL of a contest's page."""
    return reverse("contests:detail", kwargs={"contest_id": contest.public_id})
