"""Import of many submissions: upload, preview, confirmation."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.contests.access import organised_get_for
from apps.contests.services import ContestRefused
from apps.files.archives import FileWrong
from apps.submissions import services
from apps.submissions.access import import_file_get_for
from apps.submissions.forms import ImportForm
from apps.submissions.importing.plans import adder_of, plan_make
from apps.submissions.importing.plans import import_confirm as confirm
from apps.ui.refusals import refusals_shown

SHOWN = 200


@require_http_methods(["GET", "HEAD", "POST"])
def import_upload(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Store an uploaded file and redirect to its preview. Nothing is imported yet."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    if request.method == "POST" and form.is_valid():
        upload, adds = form.cleaned_data["file"], form.cleaned_data["adds_problems"]
        data = upload.read()
        try:
            plan_make(contest, data, adds_for=user if adds else None)
        except FileWrong as error:
            form.add_error("file", str(error))
        else:
            kept = services.import_file_keep(contest=contest, user=user, filename=upload.name, data=data, adds_problems=adds)
            return redirect("submissions:import_preview", contest_id=contest_id, file_id=kept.public_id)
    context = {"form": form, "contest": contest}
    return render(request, "submissions/import.html", context, status=422 if form.errors else 200)


@never_cache
@require_GET
def import_preview(request: HttpRequest, contest_id: uuid.UUID, file_id: uuid.UUID) -> HttpResponse:
    """Show the texts of an uploaded file."""
    contest, file = import_file_get_for(user_of(request), contest_id, file_id)
    plan = plan_make(contest, bytes(file.data), adds_for=adder_of(file))
    context = {
        "contest": contest,
        "file": file,
        "plan": plan,
        "good": plan.good[:SHOWN],
        "wrong": plan.wrong[:SHOWN],
        "more": len(plan.good) - SHOWN,
    }
    return render(request, "submissions/import_preview.html", context)


@require_POST
def import_confirm(request: HttpRequest, contest_id: uuid.UUID, file_id: uuid.UUID) -> HttpResponse:
    """Import the valid texts of an uploaded file."""
    _, file = import_file_get_for(user_of(request), contest_id, file_id)
    with refusals_shown(request, ContestRefused):
        plan = confirm(file=file)
        messages.success(request, f"Texts imported: {len(plan.good)}. Skipped: {len(plan.wrong)}.")
    return redirect("contests:detail", contest_id=contest_id)
