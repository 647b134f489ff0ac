"""Pages of sweeps and of any jobs side by side: the form with its grid, the table of runs, their curves, and stopping all."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.datasets.access import researcher_required
from apps.learning.access import job_get_for
from apps.learning.charts.curves import AXES, curves_of, reading
from apps.learning.charts.runs import charts_of_runs
from apps.learning.jobs.jobs import job_stop
from apps.learning.models import Sweep, TrainingJob
from apps.learning.sweeps.alike import FIRST, differing
from apps.learning.sweeps.figures import FIGURES, in_order, repeated, runs_of
from apps.learning.sweeps.forms import SweepForm
from apps.learning.sweeps.grid import MOST_RUNS, devices, sweep_start
from apps.learning.sweeps.settings import SEED, TITLES
from apps.ui.sent import uuid_of, whole_number

WIDEST = 2000
#: Most settings with a column on the page of chosen jobs, with those that say which experiment it is.
MOST_COLUMNS = 6


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sweep_new(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    """Show and process the form of a sweep over the settings of a job."""
    user = user_of(request)
    return _form(request, user, job_get_for(user, job_id), None)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sweep_add(request: HttpRequest, sweep_id: uuid.UUID) -> HttpResponse:
    """Show and process the form that adds values to a sweep."""
    user = user_of(request)
    sweep = _sweep_for(user, sweep_id)
    template = sweep.jobs.select_related("owner", "dataset").order_by("pk").first()
    if template is None:
        raise Http404("This sweep has no jobs.")
    return _form(request, user, template, sweep)


def _form(request: HttpRequest, user: User, template: TrainingJob, sweep: Sweep | None) -> HttpResponse:
    sent = request.POST.get("start_id", "")
    if sweep is None and "start" in request.POST and uuid_of(sent) and (made := Sweep.objects.filter(start_id=sent).first()):
        return redirect("learning:sweep", sweep_id=made.public_id)  # The form was submitted twice.
    form = SweepForm(request.POST or None, template=template, user=user, sweep=sweep)
    grid = form.grid if request.method == "POST" and form.is_valid() else None
    if grid is not None and "start" in request.POST and form.cleaned_data["shown"] == form.signature:
        title = form.cleaned_data["title"].strip() or template.title
        start_id = form.cleaned_data["start_id"]
        made = sweep_start(owner=user, title=title, template=template, grid=grid, start_id=start_id, sweep=sweep)
        return redirect("learning:sweep", sweep_id=made.public_id)
    took = template.ended_at - template.started_at if template.ended_at and template.started_at else None
    context = {
        "form": form,
        "fields": [field for field in form.visible_fields() if field.name != "title"],
        "job": template,
        "sweep": sweep,
        "grid": grid,
        "devices": devices(),
        "seconds": took.total_seconds() * -(-len(grid.new) // devices()) if grid and took else None,
        "most": MOST_RUNS,
    }
    return render(request, "learning/sweep_form.html", context, status=422 if form.errors else 200)


@never_cache
@require_GET
def sweep_detail(request: HttpRequest, sweep_id: uuid.UUID) -> HttpResponse:
    """Show the runs of a sweep."""
    sweep = _sweep_for(user_of(request), sweep_id)
    jobs = list(sweep.jobs.select_related("owner", "dataset").order_by("pk")[:MOST_RUNS])
    return _runs(request, jobs, sweep.names, sweep)


@never_cache
@require_GET
def runs_chosen(request: HttpRequest) -> HttpResponse:
    """Show chosen jobs side by side, by the settings in which they differ."""
    jobs = _jobs_asked(request)
    names = differing(jobs) if jobs else []
    shown = names if len(names) <= MOST_COLUMNS else [*names[: MOST_COLUMNS - 1], *(SEED for name in names if name == SEED)]
    return _runs(request, jobs, shown, None, hidden=len(names) - len(shown))


def _runs(
    request: HttpRequest, jobs: Sequence[TrainingJob], names: Sequence[str], sweep: Sweep | None, hidden: int = 0
) -> HttpResponse:
    runs = runs_of(jobs, names)
    sort = request.GET.get("sort", "")
    context = {
        "sweep": sweep,
        "runs": in_order(runs, sort) if sort else runs,
        "columns": _columns(request, [*names, "state", "step", *FIGURES], sort),
        "names": [(name, TITLES.get(name, name), name not in FIRST) for name in names if name != SEED],
        "first_columns": FIRST,
        "figures": FIGURES.values(),
        "repeated": repeated(runs),
        "hidden": hidden,
        "first": jobs[0] if jobs else None,
        "is_live": any(job.is_live for job in jobs),
        "live": sum(job.is_live for job in jobs),
        "axes": AXES,
    }
    is_part = request.headers.get("HX-Target") == "runs"
    response = render(request, "learning/_runs_table.html" if is_part else "learning/runs.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _columns(request: HttpRequest, names: Sequence[str], sort: str) -> list[dict[str, Any]]:
    """Headers with the address of the order that a click asks for; figures begin with the highest."""
    found = []
    kept = [(key, value) for key, values in request.GET.lists() if key != "sort" for value in values]
    for name in names:
        first = f"-{name}" if name in FIGURES or name == "step" else name
        aria = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
        order = (name if sort.startswith("-") else f"-{name}") if aria else first
        title = FIGURES.get(name) or TITLES.get(name) or {"state": "State", "step": "Step"}.get(name, name)
        address = f"{request.path}?{urlencode([*kept, ('sort', order)])}"
        found.append(
            {"title": title, "aria": aria, "address": address, "is_number": name not in (*FIRST, "state"), "name": name}
        )
    return found


@never_cache
@require_GET
def runs_curves(request: HttpRequest) -> HttpResponse:
    """Return the charts of chosen jobs as JSON `{seen, live, charts}`; 204 where nothing was added since `seen`.

    `job`: the jobs whose curves are drawn, by their ids; the others as for the curves of one job.
    """
    jobs = _jobs_asked(request)
    axis = request.GET.get("x", "step")
    width = max(50, min(WIDEST, whole_number(request.GET.get("width", "")) or 480))
    if axis not in AXES:
        return JsonResponse({"detail": f"x must be one of {', '.join(AXES)}."}, status=422)
    with reading:
        known = [(str(job.public_id), curves_of(job.folder)) for job in jobs]
        seen = ".".join(str(curves.offset) for _, curves in known)
        if request.GET.get("seen") == seen:
            return HttpResponse(status=204)
        charts = charts_of_runs(known, axis=axis, smooth=request.GET.get("smooth") == "1", width=width)
    return JsonResponse({"seen": seen, "live": any(job.is_live for job in jobs), "charts": charts})


@require_POST
def sweep_stop(request: HttpRequest, sweep_id: uuid.UUID) -> HttpResponse:
    """Ask all jobs of a sweep to save and stop; queued ones end at once."""
    sweep = _sweep_for(user_of(request), sweep_id)
    stopped = sum([job_stop(job) for job in sweep.jobs.all()])
    if stopped:
        messages.success(request, f"Stopping {stopped} job{'' if stopped == 1 else 's'}. Finished ones are kept.")
    else:
        messages.warning(request, "All jobs of this sweep have ended.")
    return redirect("learning:sweep", sweep_id=sweep.public_id)


def _jobs_asked(request: HttpRequest) -> list[TrainingJob]:
    """The jobs that the address names, in its order, for researchers."""
    researcher_required(user_of(request))
    asked = list(dict.fromkeys(one for one in request.GET.getlist("job") if uuid_of(one)))[:MOST_RUNS]
    found = {str(one.public_id): one for one in TrainingJob.objects.select_related("dataset").filter(public_id__in=asked)}
    return [found[one] for one in asked if one in found]


def _sweep_for(user: User, public_id: uuid.UUID) -> Sweep:
    researcher_required(user)
    found = Sweep.objects.select_related("owner").filter(public_id=public_id).first()
    if found is None:
        raise Http404("There is no such sweep.")
    return found
