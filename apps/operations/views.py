"""Operations pages for staff: current state, history of a day, log lines of a call; metrics for Prometheus."""

import uuid
from urllib.parse import quote

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from redis.exceptions import RedisError

from apps.explorations.views.shared import wants_part
from apps.operations.access import has_metrics_token, is_staff, staff_required
from apps.operations.concerns import concerns
from apps.operations.exposition import CONTENT_TYPE, exposition
from apps.operations.figures import TITLES, history_figures
from apps.operations.history import points
from apps.operations.log_lines import lines_about
from apps.operations.situation import runs_by_worker, situation
from apps.processes.streams import sync_client
from apps.runs.models import Run
from apps.runs.selectors import step_get
from apps.ui.sent import whole_number

HOURS = (1, 6, 24)


@never_cache
@require_GET
def operations_now(request: HttpRequest) -> HttpResponse:
    """The current figures; htmx reloads them every few seconds."""
    staff_required(request)
    now = situation()
    context = {
        "now": now,
        "concerns": concerns(now),
        "steps": settings.PRIORITY_STEPS,
        "workers": runs_by_worker(now.workers),
        "charts": [(name, *words) for name, words in TITLES.items()],
        "hours": _hours(request),
        "choices": HOURS,
    }
    return render(request, f"operations/{'_now' if wants_part(request) else 'operations_now'}.html", context)


@never_cache
@require_GET
def operations_history(request: HttpRequest) -> HttpResponse:
    """Data of the charts for the last hours."""
    staff_required(request)
    try:
        return JsonResponse(history_figures(points(sync_client(), _hours(request))))
    except (RedisError, OSError) as error:
        return JsonResponse({"detail": f"Redis does not answer ({error})."}, status=503)


@require_GET
def call_log(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The log lines of a run or of one of its calls: from local files, or by redirect to `LOG_URL_TEMPLATE`."""
    staff_required(request)
    run = Run.objects.filter(public_id=run_id).first()
    if run is None:
        raise Http404("This run does not exist.")
    key = request.GET.get("step", "").strip()
    step = step_get(run, key) if key else None
    if settings.LOG_URL_TEMPLATE:
        return HttpResponseRedirect(_log_url(str(run_id), key, step.worker if step else ""))
    folder = settings.DATA_DIR / "log"
    found = lines_about(folder, str(run_id), key)
    is_silent = bool(step and step.worker) and not any("answered" in line.text for line in found.lines)
    context = {"run": run, "key": key, "step": step, "folder": folder, "found": found, "worker_is_silent": is_silent}
    return render(request, "operations/call_log.html", context)


@never_cache
@login_not_required
@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Metrics in Prometheus' text format, for the bearer token of the settings and for staff."""
    if not (has_metrics_token(request) or is_staff(request)):
        if request.user.is_authenticated:
            raise Http404
        answer = HttpResponse(
            "Send METRICS_TOKEN as a bearer token to read the metrics.\n", content_type="text/plain", status=401
        )
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer
    return HttpResponse(exposition(situation()), content_type=CONTENT_TYPE)


def _hours(request: HttpRequest) -> int:
    wanted = whole_number(request.GET.get("hours", ""))
    return wanted if wanted in HOURS else HOURS[0]


def _log_url(run: str, step: str, worker: str) -> str:
    """Fill the three placeholders of the address; other braces stay, for addresses that hold JSON."""
    address: str = settings.LOG_URL_TEMPLATE
    for name, value in (("run", run), ("step", step), ("worker", worker)):
        address = address.replace(f"{{{name}}}", quote(value, safe=""))
    return address
