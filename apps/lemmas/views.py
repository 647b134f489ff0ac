"""Pages and partials of the lemma graph. Every one takes its run from `apps.runs.access`."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.lemmas.exports import FORMATS, ExportUnavailable
from apps.lemmas.exports import graph_export as graph_export_of
from apps.lemmas.kernel.services import with_kernel
from apps.lemmas.network import run_graph
from apps.lemmas.outline import outline as outline_levels
from apps.lemmas.readings.services import readings_of
from apps.lemmas.search.views import other_runs
from apps.lemmas.selectors import graph_data as graph_data_of
from apps.lemmas.selectors import lemma_detail, proof_detail
from apps.processes.one_moment import one_moment
from apps.runs.access import run_get_for
from apps.runs.models import Run
from apps.ui.sent import whole_number


def _run(request: HttpRequest, run_id: uuid.UUID) -> Run:
    user = request.user
    if not isinstance(user, User):
        raise Http404
    return run_get_for(user, run_id)


def _panel(request: HttpRequest, name: str, context: dict[str, object]) -> HttpResponse:
    """The partial for htmx, else the whole page at the same address."""
    is_partial = request.headers.get("HX-Request") == "true" and "HX-History-Restore-Request" not in request.headers
    response = render(request, f"lemmas/_{name}.html" if is_partial else f"lemmas/{name}_panel.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_GET
@one_moment()
def graph_page(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The lemma graph in the full window."""
    run = _run(request, run_id)
    return render(request, "lemmas/graph_page.html", {"run": run, "levels": outline_levels(run_graph(run))})


@require_GET
@one_moment()
def graph_data(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    """The graph as JSON (docs/graph_data.md); with `after`, the changes since that event."""
    return graph_answer(request, _run(request, run_id), graph_data_of)


def graph_answer(request: HttpRequest, run: Run, data_of: Callable[[Run, int], Mapping[str, Any]]) -> HttpResponseBase:
    """A graph of `run` as JSON, since the event `after` of the address; 304 if unchanged."""
    after = whole_number(request.GET.get("after", "")) or 0
    etag = f'"{run.public_id}-{run.last_seq}-{after}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        response = JsonResponse(data_of(run, after))
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


@require_GET
@one_moment()
def outline(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The outline list as a partial."""
    run = _run(request, run_id)
    return render(request, "lemmas/_outline.html", {"run": run, "levels": outline_levels(run_graph(run))})


@require_GET
@one_moment()
def graph_export(request: HttpRequest, run_id: uuid.UUID, form: str) -> HttpResponse:
    """The graph as a file."""
    run = _run(request, run_id)
    if form not in FORMATS:
        raise Http404(f"Unknown format. Choose one of {', '.join(FORMATS)}.")
    try:
        content_type, text = graph_export_of(run, form)
    except ExportUnavailable as reason:
        return HttpResponse(str(reason), status=501, content_type="text/plain; charset=utf-8")
    response = HttpResponse(text, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="lemmas-{run.public_id}.{form}"'
    return response


@require_GET
@one_moment()
def lemma_panel(request: HttpRequest, run_id: uuid.UUID, lemma: str) -> HttpResponse:
    """One lemma version: statement, proof, votes, uses, versions."""
    run = _run(request, run_id)
    detail = lemma_detail(run, lemma)
    if detail is None:
        raise Http404("This run has no such lemma.")
    detail = replace(detail, check=with_kernel(run, lemma, detail.check))
    shared = {**other_runs(user_of(request), detail.lemma), "readings": readings_of(user_of(request), run, lemma)}
    return _panel(request, "lemma", {"run": run, "detail": detail, "lemma": detail.lemma, **shared})


@require_GET
@one_moment()
def proof_panel(request: HttpRequest, run_id: uuid.UUID, name: str) -> HttpResponse:
    """One proof version with its findings, and the changes since the revised version."""
    run = _run(request, run_id)
    detail = proof_detail(run, name)
    if detail is None:
        raise Http404("This run has no such proof.")
    detail = replace(detail, check=with_kernel(run, detail.proof.proof, detail.check))
    readings = readings_of(user_of(request), run, detail.proof.proof)
    return _panel(request, "proof", {"run": run, "detail": detail, "proof": detail.proof, "readings": readings})
