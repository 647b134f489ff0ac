"""Import with preview, and export."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.files.tables import FileWrong
from apps.problems import selectors, services
from apps.problems.access import author_of, import_draft_get_for, solved_visible_to
from apps.problems.forms import ImportForm
from apps.problems.importing.exports import FORMATS, export_text
from apps.problems.importing.plans import plan_make
from apps.problems.importing.shapes import SHAPES

GOOD_SHOWN = 200
WRONG_SHOWN = 1_000
_TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson"}


@require_http_methods(["GET", "HEAD", "POST"])
def problem_import(request: HttpRequest) -> HttpResponse:
    """Store an uploaded file and redirect to its preview. Nothing is imported yet."""
    user = author_of(request)
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    if request.method == "POST" and form.is_valid():
        upload, shape = form.cleaned_data["file"], form.cleaned_data["shape"]
        data = upload.read()
        try:
            plan_make(data, shape)
        except FileWrong as error:
            form.add_error("file", str(error))
        else:
            draft = services.import_draft_keep(user=user, filename=upload.name, shape=shape, data=data)
            return redirect("problems:import_preview", draft_id=draft.public_id)
    context = {"form": form, "shapes": SHAPES.values()}
    return render(request, "problems/problem_import.html", context, status=422 if form.errors else 200)


@require_GET
def problem_import_preview(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """Show the valid rows of an upload, and the skipped rows with reasons."""
    draft = import_draft_get_for(author_of(request), draft_id)
    try:
        plan = plan_make(bytes(draft.data), draft.shape)
    except FileWrong as error:
        raise Http404(str(error)) from error
    context = {
        "draft": draft,
        "plan": plan,
        "good": plan.good[:GOOD_SHOWN],
        "wrong": plan.wrong[:WRONG_SHOWN],
        "good_hidden": max(0, len(plan.good) - GOOD_SHOWN),
        "wrong_hidden": max(0, len(plan.wrong) - WRONG_SHOWN),
        "row_word": plan.row_word.capitalize(),
    }
    return render(request, "problems/problem_import_preview.html", context)


@require_POST
def problem_import_confirm(request: HttpRequest, draft_id: uuid.UUID) -> HttpResponse:
    """Import the valid rows in one transaction, or discard the upload."""
    user = author_of(request)
    draft = import_draft_get_for(user, draft_id)
    if request.POST.get("action") == "discard":
        draft.delete()
        messages.info(request, f"Discarded {draft.filename}. Nothing was imported.")
        return redirect("problems:import")
    done, skipped = services.import_draft_confirm(draft=draft, by=user)
    words = f"{done:,} problem{'' if done == 1 else 's'} imported"
    messages.success(request, f"{words}; {skipped:,} skipped." if skipped else f"{words}.")
    return redirect("problems:list")


@require_GET
def problem_export(request: HttpRequest) -> HttpResponse:
    """Export the filtered list in a format of the import, for readers of solutions."""
    user = author_of(request)
    file_format, shape = request.GET.get("format", "jsonl"), request.GET.get("shape", "ours")
    if file_format not in FORMATS or shape not in SHAPES:
        raise Http404(f"Unknown export. Formats: {', '.join(FORMATS)}; shapes: {', '.join(SHAPES)}.")
    problems = selectors.problem_list(solved_visible_to(user), selectors.filter_from(request.GET))
    text = export_text(problems, file_format=file_format, shape_name=shape)
    name = f"problems-{'' if shape == 'ours' else shape + '-'}{timezone.localdate():%Y-%m-%d}.{file_format}"
    response = HttpResponse(text, content_type=f"{_TYPES[file_format]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
