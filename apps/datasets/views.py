"""Pages of datasets, for researchers: list, form with preview, and version with downloads."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.core.exceptions import ValidationError
from django.core.handlers.asgi import ASGIRequest
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_of
from apps.datasets.access import dataset_get_for, researcher_required
from apps.datasets.forms import DatasetForm
from apps.datasets.selectors import builds_to_show, datasets_visible_to, recorded_runs, tally_means
from apps.datasets.services import build_start
from apps.datasets.versions.choosing import runs_to_choose
from apps.datasets.versions.downloads import VIEWS, file_of, file_pieces, views_of
from apps.datasets.versions.making import MANIFEST
from apps.datasets.versions.preview import MOST_PREVIEWED, preview_of
from apps.runs.models import Run

A_PAGE = 30
#: Number of runs that the form lists; `export_rows` has no limit.
MOST_LISTED = 300


@require_GET
def dataset_list(request: HttpRequest) -> HttpResponse:
    """List all versions, and running or failed builds."""
    user = user_of(request)
    researcher_required(user)
    page = Paginator(datasets_visible_to(user).select_related("created_by"), A_PAGE).get_page(request.GET.get("page"))
    builds = builds_to_show()
    context = {"page": page, "builds": builds, "is_live": any(one.is_making for one in builds)}
    is_part = request.headers.get("HX-Request") == "true"
    return render(request, "datasets/_builds.html" if is_part else "datasets/dataset_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def dataset_new(request: HttpRequest) -> HttpResponse:
    """Show the form; preview the version, or start its build."""
    user = user_of(request)
    researcher_required(user)
    runs = _filtered(runs_to_choose(user), request)[:MOST_LISTED]
    form = DatasetForm(request.POST or None, runs=runs, initial=_initial(request))
    preview = None
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        if request.POST.get("do") == "make":
            try:
                build_start(user=user, name=data["name"], recipe=data["recipe"], runs=form.chosen, options=form.options)
            except ValidationError as error:
                form.add_error(None, error.messages)
            else:
                return redirect("datasets:list")
        else:
            preview = preview_of(form.chosen, data["recipe"], form.options["judge"])
    context: dict[str, Any] = {"form": form, "runs": runs, "recorded": recorded_runs(runs), "preview": preview}
    context |= {"filters": request.GET, "most": MOST_LISTED, "most_previewed": MOST_PREVIEWED}
    return render(request, "datasets/dataset_new.html", context, status=422 if form.is_bound and form.errors else 200)


@require_GET
def dataset_version(request: HttpRequest, name: str, version: int) -> HttpResponse:
    """Show a version by its manifest."""
    found = dataset_get_for(user_of(request), name, version)
    try:
        manifest = json.loads((found.folder / MANIFEST).read_text(encoding="utf-8"))
    except OSError:
        manifest = None
    context = {"version": found, "manifest": manifest, "views": views_of(found)}
    context["tallies"] = tally_means(manifest["counts"]) if manifest else []
    return render(request, "datasets/dataset_version.html", context)


@require_GET
def dataset_file(request: HttpRequest, name: str, version: int, path: str) -> HttpResponseBase:
    """Download a file of a version."""
    found = file_of(dataset_get_for(user_of(request), name, version), path)
    if found is None:
        raise Http404("The version has no such file.")
    kinds = {".json": "application/json", ".jsonl": "application/x-ndjson"}
    kind = kinds.get(found.suffix, "application/vnd.apache.parquet")
    return _streamed(request, file_pieces(found), kind, f"{name}-v{version}-{path.replace('/', '-')}")


@require_GET
def dataset_view(request: HttpRequest, name: str, version: int, view: str) -> HttpResponseBase:
    """Download a view of a version's rows."""
    found = dataset_get_for(user_of(request), name, version)
    names = {one: file_name for one, file_name, _ in views_of(found)}
    if view not in names:
        raise Http404("The version has no such view.")
    _, kind, _, _, lines_of = VIEWS[view]
    return _streamed(request, lines_of(found), kind, names[view])


def _initial(request: HttpRequest) -> dict[str, Any]:
    """The recipe and the runs that the address names; the list of runs links here with its selection."""
    return {"recipe": request.GET.get("recipe", ""), "run": request.GET.getlist("run")}


def _filtered(runs: list[Run], request: HttpRequest) -> list[Run]:
    wanted, scaffold = request.GET.get("q", "").strip().casefold(), request.GET.get("scaffold", "")
    named = set(request.GET.getlist("run"))
    found = [run for run in runs if not wanted or wanted in run.title.casefold()]
    found = [run for run in found if not named or str(run.public_id) in named]
    return [run for run in found if not scaffold or run.scaffold == scaffold]


def _streamed(request: HttpRequest, pieces: Iterator[bytes], kind: str, name: str) -> HttpResponseBase:
    response = StreamingHttpResponse(_in_threads(pieces) if isinstance(request, ASGIRequest) else pieces, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


async def _in_threads(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Read each piece in a thread, so that the event loop is not blocked and memory stays small."""
    while (piece := await sync_to_async(lambda: next(pieces, None))()) is not None:
        yield piece
