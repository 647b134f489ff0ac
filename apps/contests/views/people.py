"""Coaches, the roster, and the door to identities."""

import uuid

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.contests import selectors, services
from apps.contests.access import contest_get_for, organised_get_for, paper_get_for, reveal_may, rostered_get_for
from apps.contests.forms import CoachForm, StudentsForm
from apps.contests.models import Contest, ContestState
from apps.contests.views.reading import contest_page


@require_POST
def coach_change(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Add a coach by user name, or take one out with `remove`."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    try:
        if name := request.POST.get("remove", ""):
            coach = contest.coaches.filter(person__username=name).first()
            if coach is None:
                raise Http404("There is no such coach.")
            services.coach_remove(coach=coach)
            return redirect("contests:list" if name == user.username else contest_address(contest))
        form = CoachForm(request.POST, auto_id="coach_%s")
        if form.is_valid():
            person = User.objects.filter(username=form.cleaned_data["username"], is_active=True).first()
            if person is not None:
                granted = {name: form.cleaned_data[name] for name in ("may_reveal", "is_organiser")}
                services.coach_add(contest=contest, person=person, **granted)
                return redirect(contest_address(contest))
            form.add_error("username", "There is no such account.")
        return contest_page(request, user, contest, coach_form=form, status=422)
    except services.ContestRefused as error:
        messages.error(request, str(error))
    return redirect(contest_address(contest))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def roster(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Who takes part, without paper numbers, and a form to add students: all or none."""
    contest = rostered_get_for(user_of(request), contest_id)
    form = StudentsForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                for person, school in form.cleaned_data["students"]:
                    services.student_add(contest=contest, person=person, school=school)
        except services.ContestRefused as error:
            form.add_error("students", f"{error} Nobody was added.")
        else:
            return redirect("contests:roster", contest_id=contest_id)
    context = {
        "contest": contest,
        "form": form,
        "identities": selectors.roster(contest),
        "is_preparing": contest.state == ContestState.PREPARING,
        "reveals": selectors.reveal_list(contest),
    }
    return render(request, "contests/contest_roster.html", context, status=422 if form.errors else 200)


@require_POST
def student_remove(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Take a student out before the contest opens."""
    contest = rostered_get_for(user_of(request), contest_id)
    identity = contest.identities.filter(person__username=request.POST.get("username", "")).first()
    if identity is None:
        raise Http404("There is no such student.")
    try:
        services.student_remove(identity=identity)
    except services.ContestRefused as error:
        messages.error(request, str(error))
    return redirect("contests:roster", contest_id=contest_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def identity_reveal(request: HttpRequest, contest_id: uuid.UUID, paper_id: uuid.UUID) -> HttpResponse:
    """Ask who wrote one paper. The answer is shown once, on the page that follows the reason; asking is kept."""
    user = user_of(request)
    contest = contest_get_for(user, contest_id)
    paper = paper_get_for(user, contest, paper_id)
    if not reveal_may(user, contest):
        raise Http404("There is no such page.")
    context: dict[str, object] = {"contest": contest, "paper": paper}
    if request.method == "POST":
        try:
            context["identity"] = services.identity_reveal(paper=paper, by=user, reason=request.POST.get("reason", "")[:500])
        except services.ContestRefused as error:
            context["error"] = str(error)
    return render(request, "contests/identity_reveal.html", context, status=422 if "error" in context else 200)


def contest_address(contest: Contest) -> str:
    """Where the page of a contest is."""
    return reverse("contests:detail", kwargs={"contest_id": contest.public_id})
