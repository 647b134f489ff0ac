"""Views of the agreement page with its chart and JSON, the list of sources, and uploaded files."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import run_reader_of
from apps.agreement.bucket_table import TITLES, bucket_lines
from apps.agreement.charts import bias_charts
from apps.agreement.choosing import Which, chosen_of, query_of
from apps.agreement.comparisons import Gathered
from apps.agreement.forms import ColumnsForm, FileForm
from apps.agreement.pages import BAND_TITLES, SPLIT_TITLES, parts_cached, parts_shown
from apps.agreement.sources.contests import ContestSource
from apps.agreement.sources.files import agreement_file_ask, agreement_file_keep, columns_of, file_get_for, files_of
from apps.agreement.sources.finding import source_get_for
from apps.agreement.sources.sources import Choices, Chosen, Source
from apps.experiments.access import contests_for_experiments
from apps.files.tables import FileWrong
from apps.graded_sets.models import GradedSet
from apps.graders.planning.shown import views_json, views_summary
from apps.reasoning.agreement.report import DRAWS, FEW


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def agreement_list(request: HttpRequest) -> HttpResponse:
    """List the sources; a POST uploads a file and redirects to its columns."""
    user = run_reader_of(request)
    form = FileForm(request.POST, request.FILES) if request.method == "POST" else FileForm()
    if request.method == "POST" and form.is_valid():
        upload = form.cleaned_data["file"]
        try:
            file = agreement_file_keep(user=user, filename=upload.name or "file", data=upload.read())
        except FileWrong as error:
            form.add_error("file", str(error))
        else:
            return redirect("agreement:columns", file_id=file.public_id)
    context = {
        "form": form,
        "contests": contests_for_experiments(user),
        "sets": GradedSet.objects.all(),
        "files": files_of(user),
    }
    return render(request, "agreement/list.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def agreement_columns(request: HttpRequest, file_id: uuid.UUID) -> HttpResponse:
    """Map the columns of a file; `?rows=` selects the path of its rows."""
    file = file_get_for(run_reader_of(request), file_id)
    place = request.POST.get("rows", request.GET.get("rows", file.asked.get("rows")))
    try:
        columns = columns_of(file, place)
    except FileWrong as error:
        raise Http404(str(error)) from error
    kept = file.asked if file.asked.get("rows") == columns.proposed["rows"] else {}
    form = ColumnsForm(request.POST or None, columns=columns, asked=kept)
    if request.method == "POST" and form.is_valid():
        try:
            agreement_file_ask(file=file, asked=form.asked())
        except FileWrong as error:
            form.add_error(None, str(error))
        else:
            return redirect("agreement:detail", kind="file", source_id=file.public_id)
    examples = [[_short(row.get(name, "")) for name in columns.names] for row in columns.examples]
    context = {"file": file, "form": form, "columns": columns, "examples": examples}
    return render(request, "agreement/columns.html", context, status=422 if form.errors else 200)


@require_POST
def agreement_file_delete(request: HttpRequest, file_id: uuid.UUID) -> HttpResponse:
    """Delete a file of the user."""
    file = file_get_for(run_reader_of(request), file_id)
    file.delete()
    messages.success(request, f"{file.filename} was deleted.")
    return redirect("agreement:list")


@never_cache
@require_GET
def agreement(request: HttpRequest, kind: str, source_id: uuid.UUID) -> HttpResponse:
    """Show the agreement of the chosen graders with the chosen marks."""
    try:
        source, choices, chosen, gathered = asked_of(request, kind, source_id)
    except FileWrong as error:
        return _wrong(request, source_id, error)
    names = {one.name: one.words for one in choices.graders}
    pairs_at = reverse("agreement:pairs", args=[kind, source_id])
    query = query_of(chosen)

    def address(which: Which) -> str:
        return f"{pairs_at}?{query_of(chosen, **which.query)}"

    parts = parts_cached(gathered)
    context = {
        "source": source,
        "kind": kind,
        "source_id": source_id,
        "choices": choices,
        "chosen": chosen,
        "schemes": choices.schemes_on(chosen.problem),
        "query": query,
        "switched": query_of(chosen, each="") if chosen.each else query_of(chosen, each="1"),
        "is_several": len(gathered.graders) > 1,
        "notes": gathered.notes,
        "unsplit": query_of(chosen, split=""),
        "tabs": [(one, query_of(chosen, split=one.name)) for one in choices.groups],
        "views": views_summary(gathered.views, names),
        "parts": parts_shown(parts, gathered, names, address),
        "buckets": bucket_lines(source.key, gathered, names, address),
        "bucket_titles": TITLES,
        "split_titles": SPLIT_TITLES,
        "band_titles": BAND_TITLES,
        "few": FEW,
        "draws": DRAWS,
    }
    return render(request, "agreement/detail.html", context)


@never_cache
@require_GET
def agreement_data(request: HttpRequest, kind: str, source_id: uuid.UUID) -> JsonResponse:
    """The charts of the same comparison as Plotly figures."""
    _, choices, _, gathered = _asked_or_404(request, kind, source_id)
    return JsonResponse(bias_charts(parts_cached(gathered), {one.name: one.words for one in choices.graders}))


@never_cache
@require_GET
def agreement_json(request: HttpRequest, kind: str, source_id: uuid.UUID) -> JsonResponse:
    """All results, in the format of `manage.py agreement --json`."""
    source, _, _, gathered = _asked_or_404(request, kind, source_id)
    if isinstance(source, ContestSource):
        source.record_disclosure(pair.paper for pairs in (*gathered.graders.values(), gathered.people) for pair in pairs)
    parts = [part.model_dump(mode="json") for part in parts_cached(gathered)]
    content = {
        "source": source.title,
        "seed": 0,
        "draws": DRAWS,
        "views": views_json(gathered.views),
        "notes": gathered.notes,
        "parts": parts,
    }
    answer = JsonResponse(content)
    answer["Content-Disposition"] = 'attachment; filename="agreement.json"'
    return answer


def asked_of(request: HttpRequest, kind: str, source_id: uuid.UUID) -> tuple[Source, Choices, Chosen, Gathered]:
    """The source, its choices, the chosen comparison and its pairs. Raises `Http404`, and `FileWrong` for a file."""
    source = source_get_for(run_reader_of(request), kind, source_id)
    choices = source.choices()
    chosen = chosen_of(request.GET if request.method in ("GET", "HEAD") else request.POST, choices)
    gathered = source.gather(chosen)
    return source, choices, chosen, gathered if chosen.each else gathered.on_common(chosen.baseline)


def _asked_or_404(request: HttpRequest, kind: str, source_id: uuid.UUID) -> tuple[Source, Choices, Chosen, Gathered]:
    try:
        return asked_of(request, kind, source_id)
    except FileWrong as error:
        raise Http404(str(error)) from error


def _wrong(request: HttpRequest, file_id: uuid.UUID, error: FileWrong) -> HttpResponse:
    messages.error(request, str(error))
    return redirect("agreement:columns", file_id=file_id)


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return f"{text[:60]}…" if len(text) > 60 else text
