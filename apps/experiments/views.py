"""Views of experiments: list, form with live estimate, results, downloads, commands."""

import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_allowed, user_of
from apps.experiments.access import cells_shown, experiment_get_for, experiment_may_steer, experiments_visible_to
from apps.experiments.commands import commands_of
from apps.experiments.estimate import forecast_of
from apps.experiments.exports import csv_lines, json_lines
from apps.experiments.forms import ExperimentForm
from apps.experiments.ledger import texts_shown
from apps.experiments.models import CellState, Experiment, ExperimentCell, ExperimentKind, SolvingCell, SolvingState
from apps.experiments.presets.tables import presets
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.repeats import repeats_of
from apps.experiments.selectors import SHOWS, columns_of, counts_of, filter_from, progress_of, rows_of
from apps.experiments.services import experiment_create, views_of_experiment
from apps.experiments.solving.views import solving_page
from apps.graded_sets.models import GradedSet
from apps.graders.planning.naming import VARIANTS
from apps.graders.planning.shown import views_summary
from apps.graders.starting import models_for_grading
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.graders.registry import GRADERS
from apps.runs.access import run_may_start
from apps.ui.refusals import refusals_shown

PAGE = 50
_UNDER_WAY = (SolvingState.WAITING, SolvingState.RUNNING)
_LINES_AT_ONCE = 50
VARIANT_TITLES = {name: one.title for name, one in VARIANTS.items()}


@require_GET
def experiment_list(request: HttpRequest) -> HttpResponse:
    """List the experiments that the user may open, newest first."""
    user = user_allowed(request, run_may_start)
    rows = experiments_visible_to(user).select_related("graded_set", "contest", "owner", "problem_set__problem_set")
    page = Paginator(rows.order_by("-created_at", "-pk"), PAGE).get_page(request.GET.get("page"))
    _count_cells(page.object_list)
    return render(request, "experiments/list.html", {"page": page, "query": ""})


def _count_cells(experiments: Iterable[Experiment]) -> None:
    """Give each experiment `cells_all` and `cells_ended`."""
    shown = {one.pk: one for one in experiments}
    for model, under_way in ((ExperimentCell, (CellState.WAITING, CellState.RUNNING)), (SolvingCell, _UNDER_WAY)):
        rows = model.objects.filter(experiment__in=shown).order_by().values_list("experiment")
        for pk, count, ended in rows.annotate(Count("pk"), ended=Count("pk", filter=~Q(state__in=under_way))):
            shown[pk].cells_all, shown[pk].cells_ended = count, ended  # type: ignore[attr-defined]


@require_GET
def table_list(request: HttpRequest) -> HttpResponse:
    """List the tables of the papers, each of which fills a form."""
    user_allowed(request, run_may_start)
    papers = [(paper, list(found)) for paper, found in groupby(presets().values(), key=lambda one: one.paper)]
    return render(request, "experiments/tables.html", {"papers": papers})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def experiment_new(request: HttpRequest) -> HttpResponse:
    """Show the form. For htmx or a POST with "estimate" show the cost; any other POST starts the experiment."""
    user = user_allowed(request, run_may_start)
    trouble = ""
    try:
        known = models_for_grading()
    except AliasError as error:
        known, trouble = {}, str(error)
    preset = presets().get(request.GET.get("preset", ""))
    needed = preset.found_in(_sizes()) if preset else []
    initial: dict[str, object] = {"aliases": list(known)[:1], "workflows": ["single_turn"]}
    initial |= preset.fields() if preset else {}
    initial |= {"source": request.GET.get("source") or next(iter(needed), ""), "problems": request.GET.get("problems", "")}
    form = ExperimentForm(request.POST or None, user=user, known=known, initial=initial)
    is_asking = "HX-Request" in request.headers or "estimate" in request.POST
    forecast = None
    if request.method == "POST" and form.is_valid():
        if is_asking:
            scripts = form.chosen.scripts()
            most, repeats, options = form.cleaned_data["max_new_tokens"], len(form.repeat_seeds), form.options()
            forecast = forecast_of(scripts, form.draft().graders, form.known, most, repeats=repeats, overrides=options)
        else:
            try:
                made = experiment_create(owner=user, draft=form.draft(), start_id=form.cleaned_data["start_id"])
                return redirect("experiments:detail", experiment_id=made.public_id)
            except ExperimentRefused as error:
                form.add_error(None, str(error))
    context: dict[str, Any] = {"form": form, "forecast": forecast, "trouble": trouble, "graders": GRADERS.values()}
    context |= {"preset": preset, "lacks_set": preset is not None and not needed}
    if "HX-Request" in request.headers:
        return render(request, "experiments/_forecast.html", context)
    is_wrong = bool(form.errors) and not is_asking
    return render(request, "experiments/new.html", context, status=422 if is_wrong else 200)


def _sizes() -> dict[str, str]:
    """By value of the form's field, the titles of graded sets with their numbers of scripts and problems."""
    counted = GradedSet.objects.annotate(count=Count("scripts"), problems=Count("scripts__problem_name", distinct=True))
    return {f"set:{one.public_id}": f"{one.title}, {one.count} graded scripts of {one.problems} problems" for one in counted}


@never_cache
@require_GET
def experiment_detail(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """Show progress and results; for htmx only the changing part."""
    user = user_of(request)
    experiment = experiment_get_for(user, experiment_id)
    if experiment.kind == ExperimentKind.SOLVING:
        return solving_page(request, experiment)
    shown = cells_shown(user, experiment)
    asked = filter_from(request.GET, experiment)
    page = Paginator(rows_of(shown, asked), PAGE).get_page(request.GET.get("page"))
    texts_shown(user, [cell.version_id for cell in page])
    query = request.GET.copy()
    query.pop("page", None)
    progress = progress_of(experiment)
    counts = counts_of(shown)
    context = {
        "experiment": experiment,
        "progress": progress,
        "page": page,
        "query": query.urlencode(),
        "asked": asked,
        "columns": columns_of(asked, request.GET),
        "shows": [(name, words, counts[name]) for name, (words, _) in SHOWS.items()],
        "views": views_summary(views_of_experiment(experiment), VARIANT_TITLES),
        "repeats": repeats_of(shown, experiment.params.get("seeds", [])),
        "kept_back": progress.total - counts[""] if experiment.contest_id else 0,
        "may_steer": experiment_may_steer(user, experiment),
    }
    is_part = request.headers.get("HX-Target") == "experiment"
    response = render(request, "experiments/_experiment.html" if is_part else "experiments/detail.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


@require_GET
def experiment_csv(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponseBase:
    """Download the filtered results as CSV."""
    return _download(request, experiment_id, csv_lines, "csv", "text/csv; charset=utf-8")


@require_GET
def experiment_jsonl(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponseBase:
    """Download the filtered results as JSON lines, with whole gradings."""
    return _download(request, experiment_id, json_lines, "jsonl", "application/x-ndjson; charset=utf-8")


@require_POST
def experiment_command(request: HttpRequest, experiment_id: uuid.UUID, verb: str) -> HttpResponse:
    """Pause, resume, cancel or delete an experiment, retry failed cells, score earlier answers, or start a planned one."""
    user = user_of(request)
    experiment = experiment_get_for(user, experiment_id)
    if not experiment_may_steer(user, experiment):
        raise Http404("There is no such page.")
    commands = commands_of(experiment, user)
    if verb not in commands:
        raise Http404("There is no such command.")
    with refusals_shown(request, ExperimentRefused):
        commands[verb]()
        if verb == "delete":
            return redirect("experiments:list")
    return redirect("experiments:curves" if verb == "curves" else "experiments:detail", experiment_id=experiment_id)


def _download(
    request: HttpRequest, experiment_id: uuid.UUID, lines_of: Callable[..., Iterator[str]], ending: str, kind: str
) -> HttpResponseBase:
    user = user_of(request)
    experiment = experiment_get_for(user, experiment_id)
    if experiment.kind == ExperimentKind.SOLVING:
        raise Http404("Experiments on solving have no such file yet.")
    rows = rows_of(cells_shown(user, experiment), filter_from(request.GET, experiment))
    if experiment.contest_id is not None:
        texts_shown(user, rows.values_list("version", flat=True))
    lines = lines_of(rows)
    streamed = _in_threads(lines) if isinstance(request, ASGIRequest) else lines
    response = StreamingHttpResponse(streamed, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{_file_name(experiment)}.{ending}"'
    return response


def _file_name(experiment: Experiment) -> str:
    return f"experiment-{experiment.public_id}"


async def _in_threads(lines: Iterator[str]) -> AsyncIterator[str]:
    """Read lines in chunks in a thread, so that the event loop is not blocked and memory use stays small."""
    while piece := await sync_to_async(lambda: "".join(islice(lines, _LINES_AT_ONCE)))():
        yield piece
