"""Views for the editor with live check, imports and version commands."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from apps.problems.models import Problem
from apps.reasoning.marking.importing import Imported
from apps.reasoning.marking.importing import scheme_import as import_text
from apps.reasoning.marking.schemes.faults import Fault, FormWrong
from apps.reasoning.marking.schemes.text_form import text_written
from apps.schemes import services
from apps.schemes.access import scheme_get_for, schemes_problem_for, writer_of
from apps.schemes.forms import ImportForm, SchemeForm
from apps.schemes.models import MarkingScheme
from apps.schemes.selectors import version_newest
from apps.schemes.sheets import STEPS, sheet_of_text
from apps.schemes.starter import STARTER
from apps.ui.sent import row_version


@require_http_methods(["GET", "HEAD", "POST"])
def scheme_create(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an editor with a starter scheme; POST stores a valid scheme as a draft."""
    user = writer_of(request)
    problem = schemes_problem_for(user, slug)
    if request.method != "POST":
        return _editor(request, problem, SchemeForm(initial={"text": STARTER, "title": "Marking scheme"}))
    form = SchemeForm(request.POST)
    if _asks_to_save(request) and form.is_valid() and form.content is not None:
        scheme = services.scheme_create(problem=problem, title=form.cleaned_data["title"], content=form.content, by=user)
        messages.success(request, "Scheme saved as a draft.")
        return redirect("schemes:detail", scheme_id=scheme.public_id)
    return _editor(request, problem, form)


@require_http_methods(["GET", "HEAD", "POST"])
def scheme_import(request: HttpRequest, slug: str) -> HttpResponse:
    """Open a pasted scheme, or the problem's text (`?from=problem`), in the editor without storing it."""
    user = writer_of(request)
    problem = schemes_problem_for(user, slug)
    form = ImportForm(request.POST if request.method == "POST" else None)
    source = problem.current.scheme_text if request.GET.get("from") == "problem" else ""
    if request.method == "POST" and form.is_valid():
        source = form.cleaned_data["source"]
    faults: tuple[Fault, ...] = ()
    if source:
        try:
            return _imported(request, problem, import_text(source))
        except FormWrong as wrong:
            faults = wrong.faults
    shown = form if form.is_bound else ImportForm(initial={"source": source})
    context = {"problem": problem, "form": shown, "faults": faults}
    return render(request, "schemes/scheme_import.html", context, status=422 if faults or form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def scheme_edit(request: HttpRequest, scheme_id: uuid.UUID) -> HttpResponse:
    """Edit the newest version. Saving overwrites a draft or creates the next version."""
    user = writer_of(request)
    scheme = scheme_get_for(user, scheme_id)
    if request.method != "POST":
        text = text_written(version_newest(scheme).content)
        return _editor(request, scheme.problem, SchemeForm(initial={"title": scheme.title, "text": text}), scheme)
    form, based_on = SchemeForm(request.POST), row_version(request)
    if _asks_to_save(request) and form.is_valid() and form.content is not None:
        values = {name: form.cleaned_data[name] for name in ("title", "is_wording_only", "reason")}
        try:
            version = services.scheme_save(scheme=scheme, content=form.content, by=user, based_on=based_on, **values)
        except services.SchemeChanged:
            return _editor(request, scheme.problem, form, scheme, is_stale=True)
        except services.NotWordingOnly:
            form.refuse_wording_only()
        else:
            messages.success(request, f"Version {version.number} saved.")
            return redirect(f"{reverse('schemes:detail', args=[scheme.public_id])}?version={version.number}")
    return _editor(request, scheme.problem, form, scheme, based_on=based_on)


@require_POST
def scheme_check(request: HttpRequest) -> HttpResponse:
    """Check the text of the editor and render its try-out without storing it."""
    writer_of(request)
    context = {"sheet": sheet_of_text(request.POST.get("text", ""), request.POST), "steps": STEPS}
    return render(request, "schemes/_sheet.html", context)


@require_POST
def scheme_command(request: HttpRequest, scheme_id: uuid.UUID, verb: str) -> HttpResponse:
    """Apply `activate`, `retire` or `discard` if the scheme is unchanged since `based_on`."""
    user = writer_of(request)
    scheme = scheme_get_for(user, scheme_id)
    based_on, slug = row_version(request), scheme.problem.slug
    try:
        if verb == "activate":
            version = services.scheme_activate(scheme=scheme, by=user, based_on=based_on)
            messages.success(request, f"Version {version.number} is active and used for marking.")
        elif verb == "retire":
            version = services.scheme_retire(scheme=scheme, by=user, based_on=based_on)
            messages.success(request, f"Version {version.number} is retired. Existing marks stay unchanged.")
        elif verb == "discard":
            services.draft_discard(scheme=scheme, based_on=based_on)
            messages.success(request, "Draft discarded.")
        else:
            raise Http404("There is no such page.")
    except services.SchemeChanged:
        messages.error(
            request,
            "Another user changed the scheme meanwhile. Your command was not run; check the current state and try again.",
        )
    except services.SchemeNotUsable as error:
        messages.error(request, f"The draft was not activated. Correct its errors first: {error.issues[0].message}")
    except (services.VersionNotOpen, services.SchemeHeld) as error:
        messages.error(request, str(error))
    if not MarkingScheme.objects.filter(pk=scheme.pk).exists():
        return redirect("schemes:list", slug=slug)
    return redirect("schemes:detail", scheme_id=scheme_id)


def _asks_to_save(request: HttpRequest) -> bool:
    return request.POST.get("action", "save") == "save"


def _imported(request: HttpRequest, problem: Problem, imported: Imported) -> HttpResponse:
    form = SchemeForm(initial={"title": "Marking scheme", "text": text_written(imported.scheme)})
    return _editor(request, problem, form, imported=imported)


def _editor(
    request: HttpRequest,
    problem: Problem,
    form: SchemeForm,
    scheme: MarkingScheme | None = None,
    *,
    based_on: int | None = None,
    is_stale: bool = False,
    imported: Imported | None = None,
) -> HttpResponse:
    is_refused = form.is_bound and _asks_to_save(request) and not is_stale
    if form.is_bound and not _asks_to_save(request):
        form.errors.clear()
    if scheme is not None and is_stale:
        scheme.refresh_from_db()
    context: dict[str, Any] = {
        "problem": problem,
        "scheme": scheme,
        "form": form,
        "sheet": sheet_of_text(str(form["text"].value() or ""), request.POST),
        "steps": STEPS,
        "based_on": (based_on or scheme.row_version) if scheme else "",
        "is_new_version": scheme is not None and version_newest(scheme).status != "draft",
        "has_parent": scheme is not None and (version_newest(scheme).status != "draft" or version_newest(scheme).parent_id),
        "is_stale": is_stale,
        "is_refused": is_refused,
        "imported": imported,
    }
    status = 409 if is_stale else 422 if is_refused else 200
    return render(request, "schemes/scheme_edit.html", context, status=status)
