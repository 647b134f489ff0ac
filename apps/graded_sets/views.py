"""Views of imported sets: list, import, a set with its scripts, one script with imported points and issues."""

import uuid
from pathlib import PurePosixPath

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_allowed
from apps.files.tables import FileWrong
from apps.graded_sets.forms import SetImportForm
from apps.graded_sets.importing import LEFT_OUT_KEPT, Upload, set_import, set_known, set_read
from apps.graded_sets.models import GradedScript, GradedSet
from apps.graded_sets.script_text import pieces_of
from apps.graded_sets.shapes import WITHOUT_TEXTS, with_credit
from apps.runs.access import run_may_start

PAGE = 50


@require_GET
def set_list(request: HttpRequest) -> HttpResponse:
    """List all sets."""
    user_allowed(request, run_may_start)
    rows = GradedSet.objects.annotate(
        scripts_all=Count("scripts", distinct=True), scores_all=Count("scripts__human_scores", distinct=True)
    )
    return render(request, "graded_sets/list.html", {"sets": rows})


@require_http_methods(["GET", "HEAD", "POST"])
def set_upload(request: HttpRequest) -> HttpResponse:
    """Import an uploaded file; the set's page lists skipped rows."""
    user = user_allowed(request, run_may_start)
    form = SetImportForm(request.POST, request.FILES) if request.method == "POST" else SetImportForm()
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        name = PurePosixPath(given["file"].name or "file")
        upload = Upload(name.stem, {PurePosixPath(name.name): given["file"].read()})
        try:
            known = set_known(upload)
            if known is None:
                draft = with_credit(set_read(upload, given["out_of"]), credit=given["credit"], licence=given["licence"])
                title = given["title"] or f"{draft.layout}: {name.stem}"
                made = set_import(upload=upload, draft=draft, title=title, by=user)
            else:
                made = known
                messages.info(request, "This file was already imported as the set below.")
            return redirect("graded_sets:detail", set_id=made.public_id)
        except FileWrong as error:
            form.add_error("file", str(error))
    return render(request, "graded_sets/import.html", {"form": form}, status=422 if form.errors else 200)


@require_GET
def set_detail(request: HttpRequest, set_id: uuid.UUID) -> HttpResponse:
    """Show a set with its source, scripts, skipped rows and experiments."""
    user_allowed(request, run_may_start)
    found = get_object_or_404(GradedSet, public_id=set_id)
    asked = request.GET.get("q", "").replace("\0", "")[:200]
    scripts = found.scripts.prefetch_related("human_scores").select_related("problem__problem").defer("text")
    for word in asked.split():
        scripts = scripts.filter(Q(name__icontains=word) | Q(problem_name__icontains=word) | Q(author__icontains=word))
    page = Paginator(scripts, PAGE).get_page(request.GET.get("page"))
    lost = [(script, issue) for script in page.object_list for issue in script.issues if issue.get("lost")]
    context = {
        "set": found,
        "page": page,
        "asked": asked,
        "query": f"q={asked}" if asked else "",
        "lost": lost,
        "experiments": found.experiments.all()[:20],
        "most_listed": LEFT_OUT_KEPT,
        **_not_graded(found),
    }
    return render(request, "graded_sets/detail.html", context)


def _not_graded(found: GradedSet) -> dict[str, int]:
    """Numbers of scripts that graders skip: `without` required material, and `empty` ones."""
    unpublished = found.shape in WITHOUT_TEXTS
    lacking = Q(problem=None) | Q(text="") if unpublished else Q(problem=None)
    empty = 0 if unpublished else found.scripts.filter(text="").exclude(problem=None).count()
    return {"without": found.scripts.filter(lacking).count(), "empty": empty}


@require_GET
def set_script(request: HttpRequest, set_id: uuid.UUID, script_id: uuid.UUID) -> HttpResponse:
    """Show one script: text with issues at their steps, points by people, gradings."""
    user_allowed(request, run_may_start)
    scripts = GradedScript.objects.select_related("graded_set", "problem__problem").prefetch_related("human_scores")
    script = get_object_or_404(scripts, graded_set__public_id=set_id, public_id=script_id)
    context = {
        "script": script,
        "pieces": pieces_of(script),
        "is_unpublished": script.graded_set.shape in WITHOUT_TEXTS,
        "lost": [issue for issue in script.issues if issue.get("lost")],
    }
    return render(request, "graded_sets/script.html", context)
