"""Views of the pieces prepared from a problem's references: add references, start runs, edit and approve pieces."""

import uuid

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.graders.models import PieceVersion, ReferencePost
from apps.graders.planning.plans import PlanWrong
from apps.graders.references import ReferenceWrong, post_remove, posts_add
from apps.graders.starting import models_for_grading
from apps.preparation.forms import (
    PieceWrong,
    PrepareForm,
    ReferencesForm,
    piece_entered,
    piece_fields,
    piece_heading,
    piece_typed,
)
from apps.preparation.origins import origins_fill, origins_of
from apps.preparation.runs import is_any_live, problem_run_start, problem_spec, runs_about, spec_estimate
from apps.preparation.services import PieceChanged, piece_save, piece_withdraw, pieces_approve
from apps.preparation.state import Place, state_of
from apps.problems.access import solved_get_for
from apps.problems.models import Problem
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.graders.registry import PREPARERS
from apps.reasoning.inference.aliases import Alias
from apps.runs.access import run_may_start

PREPARE = "prepare"


def problem_for(request: HttpRequest, slug: str) -> tuple[User, Problem]:
    """The user, and a problem whose solutions the user may read. Raises `Http404`."""
    user = user_of(request)
    if not run_may_start(user):
        raise Http404("There is no such page.")
    return user, solved_get_for(user, slug)


def aliases_known() -> tuple[dict[str, Alias], str]:
    """The models for graders, or the error in models.toml."""
    try:
        return models_for_grading(), ""
    except AliasError as error:
        return {}, str(error)


@require_http_methods(["GET", "HEAD", "POST"])
def prepare(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the prepared pieces of a problem. A POST with "estimate" shows the cost of a run; any other starts one."""
    user, problem = problem_for(request, slug)
    aliases, trouble = aliases_known()
    form = PrepareForm(request.POST or None, aliases=aliases)
    estimate = None
    if request.method == "POST" and form.is_valid():
        try:
            spec = problem_spec(PREPARERS[PREPARE], problem.current, form.chosen(), form.overrides())
            if "estimate" in request.POST:
                estimate = spec_estimate(spec)
            else:
                problem_run_start(user=user, problem=problem, spec=spec, start_id=form.cleaned_data["start_id"])
                return _back(problem, "runs")
        except PlanWrong as error:
            form.add_error(None, str(error))
        except ValidationError as error:
            form.add_error(None, error)
    runs, state = runs_about(problem, PREPARE), state_of(problem)
    origins_fill(problem, state)
    context = {
        "problem": problem,
        "version": problem.current,
        "state": state,
        "form": form,
        "references_form": ReferencesForm(),
        "estimate": estimate,
        "trouble": trouble,
        "runs": runs,
        "is_live": is_any_live(runs),
    }
    template = "preparation/_pieces.html" if "HX-Request" in request.headers else "preparation/prepare.html"
    return render(request, template, context, status=422 if form.errors else 200)


@require_POST
def prepare_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Add references."""
    user, problem = problem_for(request, slug)
    form = ReferencesForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, "Nothing was added: the text or its origin is too long. Shorten it.")
        return _back(problem, "references")
    try:
        count = posts_add(problem=problem, texts=form.texts(), origin=form.cleaned_data["origin"], by=user)
    except (PieceWrong, ReferenceWrong) as error:
        messages.error(request, f"Nothing was added. {error}")
    else:
        text = f"{count} reference{'s' * (count != 1)} added." if count else "Nothing was added: all texts exist already."
        messages.success(request, text) if count else messages.warning(request, text)
    return _back(problem, "references")


@require_POST
def prepare_remove(request: HttpRequest, slug: str, post_id: uuid.UUID) -> HttpResponse:
    """Remove a post."""
    _, problem = problem_for(request, slug)
    post = ReferencePost.objects.filter(problem=problem, public_id=post_id).first()
    if post is None:
        raise Http404("There is no such reference.")
    post_remove(post=post)
    messages.success(request, "Reference removed. Pieces made from it are stale.")
    return _back(problem, "references")


@require_http_methods(["GET", "HEAD", "POST"])
def piece(request: HttpRequest, slug: str) -> HttpResponse:
    """Edit the piece `?piece=NAME`, starting from `&from=VERSION` if given. Saving creates a new version."""
    user, problem = problem_for(request, slug)
    state = state_of(problem)
    place = state.place(request.GET.get("piece", ""))
    if place is None or place.slot is None:
        raise Http404("There is no such piece, or its input is missing.")
    begun = _version(place, request.GET.get("from", ""))
    wrong, value = "", begun.value if begun else None
    if request.method == "POST":
        value = piece_typed(place, state, request.POST)
        try:
            found = piece_entered(place, state, value)
            based_on = _version(place, request.POST.get("based_on", "")) if request.POST.get("based_on") else None
            version = piece_save(
                problem=problem, slot=place.slot, value=found, by=user, parent=based_on, statement=state.statement
            )
            if "approve" in request.POST:
                pieces_approve(versions=state_of(problem).with_inputs(version), by=user)
            messages.success(request, "Approved: graders use it from now on." if "approve" in request.POST else "Saved.")
            return _back(problem, "pieces")
        except (PieceWrong, PieceChanged) as error:
            wrong = str(error)
    group = state.group_of(place)
    context = {
        "problem": problem,
        "place": place,
        "group": group,
        "heading": piece_heading(place, group),
        "fields": piece_fields(place, state, value),
        "wrong": wrong,
        "last": place.last,
        "begun": begun,
    }
    return render(request, "preparation/piece.html", context, status=422 if wrong else 200)


@require_GET
def piece_version(request: HttpRequest, slug: str, version_id: uuid.UUID) -> HttpResponse:
    """Show one version of a piece, current or not."""
    _, problem = problem_for(request, slug)
    version = _version_of(problem, version_id)
    state = state_of(problem)
    place = state.place(version.slot)
    counts = place.current if place else None
    shown = Place(version.slot, "", None, current=version)
    (origin,) = origins_of(problem, state, [version])
    context = {
        "problem": problem,
        "version": version,
        "shown": shown,
        "place": place,
        "counts": counts == version,
        "origin": origin,
    }
    return render(request, "preparation/version.html", context)


@require_POST
def piece_command(request: HttpRequest, slug: str, version_id: uuid.UUID, verb: str) -> HttpResponse:
    """Approve a version with its inputs, or withdraw the approval."""
    user, problem = problem_for(request, slug)
    version = _version_of(problem, version_id)
    if verb == "approve":
        versions = state_of(problem).with_inputs(version)
        if not versions:
            messages.error(request, "Not approved: this version is stale, as its input has changed. Start a new one from it.")
            return _back(problem, "pieces")
        pieces_approve(versions=versions, by=user)
        count = len(versions)
        messages.success(request, f"Approved{f' together with its inputs ({count} pieces)' if count > 1 else ''}.")
    elif verb == "withdraw":
        piece_withdraw(version=version, by=user)
        messages.success(request, "Approval withdrawn: graders prepare their own piece from now on.")
    else:
        raise Http404("There is no such command.")
    return _back(problem, "pieces")


def _version_of(problem: Problem, version_id: uuid.UUID) -> PieceVersion:
    version = PieceVersion.objects.filter(problem=problem, public_id=version_id).select_related("run", "made_by").first()
    if version is None:
        raise Http404("There is no such version.")
    return version


def _version(place: Place, public_id: str) -> PieceVersion | None:
    """The version of this place with an id; "" means the current one."""
    known = [*([place.current] if place.current else []), *place.earlier, *place.stale]
    return next((one for one in known if str(one.public_id) == public_id), None if public_id else place.current)


def _back(problem: Problem, anchor: str) -> HttpResponseRedirect:
    return redirect(f"{reverse('preparation:prepare', args=[problem.slug])}#{anchor}")
