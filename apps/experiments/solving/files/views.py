"""The tab “Files” of an experiment: downloads, and the import of an Inspect log as an external method."""

import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import BinaryIO

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_of
from apps.experiments.access import experiment_get_for, experiment_may_steer, items_hidden
from apps.experiments.models import Experiment, ExperimentKind
from apps.experiments.solving.files.downloads import files_of
from apps.experiments.solving.services import manifest_stored

_CHUNK = 256 * 1024


@never_cache
@require_http_methods(["GET", "HEAD"])
def file_list(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """List the files."""
    user = user_of(request)
    experiment = _solving_for(request, experiment_id)
    hidden = items_hidden(user, experiment)
    scorers, scorer = _scorer(request, experiment)
    context = {
        "experiment": experiment,
        "files": files_of(experiment, hidden, scorer),
        "scorers": scorers,
        "scorer": scorer,
        "hidden": len(hidden),
        "may_steer": experiment_may_steer(user, experiment),
    }
    return render(request, "experiments/files.html", context)


@require_GET
def file_download(request: HttpRequest, experiment_id: uuid.UUID, name: str) -> HttpResponseBase:
    """Download a file, without problems that are held back. `scorer` and `calls` choose what some files hold."""
    experiment = _solving_for(request, experiment_id)
    hidden = items_hidden(user_of(request), experiment)
    _, scorer = _scorer(request, experiment)
    files = files_of(experiment, hidden, scorer, calls=request.GET.get("calls") == "yes")
    file = next((one for one in files if one.name == name), None)
    if file is None:
        raise Http404("This experiment has no such file.")
    out: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the response)
    file.write(out)
    out.seek(0)
    chunks = _in_threads(out) if isinstance(request, ASGIRequest) else _chunks(out)
    response = StreamingHttpResponse(chunks, content_type=file.kind)
    response["Content-Disposition"] = f'attachment; filename="{file.name}"'
    return response


def _solving_for(request: HttpRequest, experiment_id: uuid.UUID) -> Experiment:
    experiment = experiment_get_for(user_of(request), experiment_id)
    if experiment.kind != ExperimentKind.SOLVING:
        raise Http404("This experiment has no such files.")
    return experiment


def _scorer(request: HttpRequest, experiment: Experiment) -> tuple[list[str], str]:
    """The scorers, and the one asked for; else the first."""
    names = [one.name for one in manifest_stored(experiment).scorers]
    asked = request.GET.get("scorer", "")
    return names, asked if asked in names else next(iter(names), "")


def _chunks(out: BinaryIO) -> Iterator[bytes]:
    with out:
        while chunk := out.read(_CHUNK):
            yield chunk


async def _in_threads(out: BinaryIO) -> AsyncIterator[bytes]:
    """Read in threads, so that the event loop is not blocked."""
    with out:
        while chunk := await sync_to_async(out.read)(_CHUNK):
            yield chunk
