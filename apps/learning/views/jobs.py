"""Pages of training jobs: list, form, detail with curves and samples, and commands."""

import uuid
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.datasets.access import researcher_required
from apps.learning.access import job_get_for
from apps.learning.charts.curves import AXES, curves_of, reading
from apps.learning.charts.drawing import charts_of
from apps.learning.charts.samples import samples_of
from apps.learning.jobs.configs import fields_of
from apps.learning.jobs.forms import JobForm
from apps.learning.jobs.hyperparameters import differences_of, facts_of, settings_in_force
from apps.learning.jobs.jobs import job_create, job_resume, job_stop
from apps.learning.jobs.listing import columns, jobs_in_order, last_reward, rate_of, sort_of
from apps.learning.jobs.more_fields import shown_defaults
from apps.learning.jobs.page import job_now, worker_is_missing
from apps.learning.jobs.trainers import TrainerMissing, python
from apps.learning.models import Sweep, TrainingJob
from apps.learning.presets import FIRST
from apps.learning.rollouts.forms import ROLLOUT_FIELDS
from apps.learning.rollouts.temperatures import of_job
from apps.recipes.registry import TRAININGS
from apps.ui.sent import uuid_of, whole_number

PAGE = 50
#: Newest sweeps that the list of jobs links to.
SWEEPS = 8
MOST_OVERLAID = 6
WIDEST = 2000


@never_cache
@require_GET
def job_list(request: HttpRequest) -> HttpResponse:
    """List all jobs in the requested order; redirect to the page of chosen jobs."""
    researcher_required(user_of(request))
    chosen = [one for one in request.GET.getlist("job") if uuid_of(one)]
    if chosen:
        return redirect(f"{reverse('learning:runs')}?{urlencode([('job', one) for one in chosen])}")
    sort = sort_of(request.GET.get("sort", ""))
    page = Paginator(jobs_in_order(sort), PAGE).get_page(request.GET.get("page"))
    rows = [(job, rate_of(job), last_reward(job)) for job in page.object_list]
    shown = {"page": page, "rows": rows, "columns": columns(sort), "query": urlencode({"sort": sort})}
    context = {**shown, "missing": _missing(), "no_worker": worker_is_missing(), "presets": FIRST}
    context["sweeps"] = Sweep.objects.annotate(count=Count("jobs")).filter(count__gt=0)[:SWEEPS]
    is_part = request.headers.get("HX-Target") == "jobs"
    response = render(request, "learning/_job_rows.html" if is_part else "learning/job_list.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def job_new(request: HttpRequest) -> HttpResponse:
    """Show and process the form, prefilled from a preset, another job or a checkpoint named in the address."""
    user = user_of(request)
    researcher_required(user)
    preset, missing = request.GET.get("preset", ""), _missing()
    like = TrainingJob.objects.filter(public_id=request.GET["like"]).first() if uuid_of(request.GET.get("like", "")) else None
    initial = fields_of(like) if like else {}
    initial |= {name: request.GET[name] for name in ("base", "source", "recipe") if name in request.GET}
    form = JobForm(request.POST or None, user=user, preset=preset, initial=initial)
    if request.method == "POST" and form.is_valid():
        if missing and settings.EMBEDDED:
            form.add_error(None, missing)
        else:
            job = job_create(owner=user, draft=form.draft(), start_id=form.cleaned_data["start_id"])
            return redirect("learning:job", job_id=job.public_id)
    context = {
        "form": form,
        "parts": [
            ("Basics", [form[name] for name in form.MAIN]),
            *([("New rollouts", [form[name] for name in ROLLOUT_FIELDS])] if form.has_players else []),
            ("Optimiser", [form[name] for name in form.OPTIMISER]),
            ("Loss", [form[name] for name in form.LOSS]),
            ("Model and machine", [form[name] for name in form.REST]),
            ("Other settings", [form[name] for name in form.MORE]),
        ],
        "missing": missing,
        "presets": FIRST,
        "cards": TRAININGS.values(),
        "defaults": shown_defaults(),
        "temperatures": form.temperatures(),
    }
    return render(request, "learning/job_new.html", context, status=422 if form.errors else 200)


@never_cache
@require_GET
def job_detail(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    """Show a job; for htmx only the part that changes."""
    user = user_of(request)
    job = job_get_for(user, job_id)
    overlaid = _overlaid(request, job)
    query = urlencode([("with", str(other.public_id)) for other in overlaid])
    context = {
        **job_now(job),
        "overlaid": overlaid,
        "others": TrainingJob.objects.exclude(pk__in=[job.pk, *(other.pk for other in overlaid)])[:50],
        "query": query,
        "axes": AXES,
        **_settings_context(job),
    }
    is_part = request.headers.get("HX-Target") == "job"
    response = render(request, "learning/_job_now.html" if is_part else "learning/job_detail.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


@never_cache
@require_GET
def job_curves(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    """Return the charts as JSON `{seen, live, charts}`; 204 where nothing was added since `seen`.

    `x`: step, tokens or time; `smooth`: 1; `width`: columns of the screen; `with`: jobs to overlay.
    """
    job = job_get_for(user_of(request), job_id)
    axis = request.GET.get("x", "step")
    width = max(50, min(WIDEST, whole_number(request.GET.get("width", "")) or 480))
    if axis not in AXES:
        return JsonResponse({"detail": f"x must be one of {', '.join(AXES)}."}, status=422)
    with reading:
        jobs = [(one, curves_of(one.folder)) for one in (job, *_overlaid(request, job))]
        seen = ".".join(str(curves.offset) for _, curves in jobs)
        if request.GET.get("seen") == seen:
            return HttpResponse(status=204)
        titles = [(one.title, curves) for one, curves in jobs]
        charts = charts_of(titles, axis=axis, smooth=request.GET.get("smooth") == "1", width=width)
    return JsonResponse({"seen": seen, "live": any(one.is_live for one, _ in jobs), "charts": charts})


@never_cache
@require_GET
def job_samples(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    """Show the rows of the requested step, or of the nearest step with rows."""
    job = job_get_for(user_of(request), job_id)
    found = samples_of(job.folder)
    found_step = whole_number(request.GET.get("step", ""))
    asked = job.step if found_step is None else found_step
    with found.lock:
        step = found.near(asked)
        rows: list[dict[str, Any]] = found.at(step) if step is not None else []
        before, after = found.neighbours(step) if step is not None else (None, None)
    context = {"job": job, "step": step, "asked": asked, "rows": rows, "before": before, "after": after}
    is_part = request.headers.get("HX-Target") == "samples"
    response = render(request, "learning/_samples.html" if is_part else "learning/job_samples.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


@never_cache
@require_GET
def job_settings(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    """Show the settings in force of a job; with another job in the address, the differences of both."""
    job = job_get_for(user_of(request), job_id)
    other = next(iter(_overlaid(request, job)), None)
    context = {
        "job": job,
        "other": other,
        "differences": differences_of(job, other) if other else [],
        **_settings_context(job),
    }
    return render(request, "learning/job_settings.html", context)


@require_POST
def job_command(request: HttpRequest, job_id: uuid.UUID, verb: str) -> HttpResponse:
    """Stop a job after it has saved, or resume it."""
    job = job_get_for(user_of(request), job_id)
    commands = {"stop": (job_stop, "This job has already ended."), "resume": (job_resume, "This job cannot be resumed.")}
    if verb not in commands:
        raise Http404
    do, refusal = commands[verb]
    if not do(job):
        messages.warning(request, refusal)
    return redirect("learning:job", job_id=job.public_id)


def _settings_context(job: TrainingJob) -> dict[str, Any]:
    temperatures, warning = of_job(job)
    return {
        "in_force": settings_in_force(job.config),
        "facts": facts_of(job),
        "temperatures": temperatures,
        "temperature_warning": warning,
        "all_others": TrainingJob.objects.exclude(pk=job.pk)[:50],
    }


def _overlaid(request: HttpRequest, job: TrainingJob) -> list[TrainingJob]:
    asked = [one for one in request.GET.getlist("with") if uuid_of(one)][: MOST_OVERLAID - 1]
    found = {str(one.public_id): one for one in TrainingJob.objects.filter(public_id__in=asked).exclude(pk=job.pk)}
    return [found[one] for one in dict.fromkeys(asked) if one in found]


def _missing() -> str:
    """Message where the trainer's environment is missing; else empty."""
    try:
        python()
    except TrainerMissing as error:
        return str(error)
    return ""
