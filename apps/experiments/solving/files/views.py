"""The tab “Files” of an experiment: downloads, and the import of an Inspect log as an external method."""

import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import BinaryIO

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_of
from apps.experiments.access import experiment_may_steer, items_hidden, solving_get_for
from apps.experiments.models import Experiment
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.files.downloads import files_of
from apps.experiments.solving.files.forms import LogForm
from apps.experiments.solving.files.importing import Report, external_remove, log_import
from apps.experiments.solving.files.inspect_reading import LogWrong
from apps.experiments.solving.kept import counts_none
from apps.experiments.solving.services import manifest_stored
from apps.ui.refusals import refusals_shown

_CHUNK = 256 * 1024


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def file_list(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """List the files; a POST imports a log, or removes an external method."""
    user = user_of(request)
    experiment = solving_get_for(user_of(request), experiment_id)
    hidden, may_steer = items_hidden(user, experiment), experiment_may_steer(user, experiment)
    form = LogForm(request.POST or None, request.FILES or None)
    if request.method == "POST":
        if not may_steer:
            raise Http404("There is no such page.")
        if method := request.POST.get("remove"):
            with refusals_shown(request, ExperimentRefused):
                external_remove(experiment=experiment, method=method)
            return redirect("experiments:files", experiment_id=experiment_id)
        if form.is_valid() and (report := _imported(form, experiment, hidden)) is not None:
            messages.success(request, report.text)
            return redirect("experiments:files", experiment_id=experiment_id)
    scorers, scorer = _scorer(request, experiment)
    context = {
        "experiment": experiment,
        "files": files_of(experiment, hidden, scorer, counts_none=counts_none(request)),
        "scorers": scorers,
        "scorer": scorer,
        "hidden": len(hidden),
        "form": form if may_steer else None,
        "external": sorted(manifest_stored(experiment).external),
    }
    return render(request, "experiments/files.html", context, status=422 if form.errors else 200)


def _imported(form: LogForm, experiment: Experiment, hidden: set[int]) -> Report | None:
    """Import the log of a form; None with an error in the form if that is not possible."""
    given = form.cleaned_data
    try:
        return log_import(
            experiment=experiment, file=given["file"].file, method=given["method"], full=given["full"], hidden=hidden
        )
    except (LogWrong, ExperimentRefused) as error:
        form.add_error("file", str(error))
        return None


@require_GET
def file_download(request: HttpRequest, experiment_id: uuid.UUID, name: str) -> HttpResponseBase:
    """Download a file, without problems that are held back. `scorer`, `none` and `calls` choose what some files hold."""
    experiment = solving_get_for(user_of(request), experiment_id)
    hidden = items_hidden(user_of(request), experiment)
    _, scorer = _scorer(request, experiment)
    calls = request.GET.get("calls") == "yes"
    files = files_of(experiment, hidden, scorer, calls=calls, counts_none=counts_none(request))
    file = next((one for one in files if one.name == name), None)
    if file is None:
        raise Http404("This experiment has no such file.")
    out: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the response)
    file.write(out)
    out.seek(0)
    chunks = _ChunksInThreads(out) if isinstance(request, ASGIRequest) else _Chunks(out)
    response = StreamingHttpResponse(chunks, content_type=file.kind)
    response["Content-Disposition"] = f'attachment; filename="{file.name}"'
    return response


def _scorer(request: HttpRequest, experiment: Experiment) -> tuple[list[str], str]:
    """The scorers, and the one asked for; else the first."""
    names = [one.name for one in manifest_stored(experiment).scorers]
    asked = request.GET.get("scorer", "")
    return names, asked if asked in names else next(iter(names), "")


class _Chunks:
    """A file in chunks. The response closes it, also if it is never read."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self.close = out.close

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self.out.read(_CHUNK):
            yield chunk


class _ChunksInThreads:
    """As `_Chunks`, read in threads, so that the event loop is not blocked."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self.close = out.close

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := await sync_to_async(self.out.read)(_CHUNK):
            yield chunk
