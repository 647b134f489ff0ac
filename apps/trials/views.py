"""Pages for trials of a model: start form, results and export."""

import json

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_aliases
from apps.reasoning.trying.registry import RUNNABLE
from apps.runs.access import run_may_start
from apps.trials.forms import TrialForm
from apps.trials.rates import RoleRates, Share
from apps.trials.selectors import Trial, answer_rows, trials_of
from apps.trials.services import trial_start

MAX_UNREADABLE = 60


@require_http_methods(["GET", "HEAD", "POST"])
def trial(request: HttpRequest, alias: str) -> HttpResponse:
    """Trials of a model by revision, and the start form."""
    user, model = _reader(request), _alias(alias)
    form = TrialForm(request.POST or None, alias=model)
    if request.method == "POST" and form.is_valid():
        try:
            trial_start(user=user, plan=form.plan(), start_id=form.cleaned_data["start_id"])
        except PermissionDenied as error:
            form.add_error(None, str(error))
        else:
            return redirect("trials:trial", alias=model.name)
    trials = trials_of(user, model.name)
    context = {
        "alias": model,
        "form": form,
        "may_start": run_may_start(user) and model.enabled and not model.is_authored,
        "trials": [
            (one, _rows(one, trials[number + 1] if number + 1 < len(trials) else None)) for number, one in enumerate(trials)
        ],
        "max_unreadable": MAX_UNREADABLE,
    }
    name = "_trials" if request.headers.get("HX-Target") == "trials" else "trial"
    return render(request, f"trials/{name}.html", context)


@require_GET
def answers(request: HttpRequest, alias: str) -> StreamingHttpResponse:
    """Export answers with their texts as JSON lines: of the newest trial, or of `?revision=`."""
    user, model = _reader(request), _alias(alias)
    trials = trials_of(user, model.name)
    revision = request.GET.get("revision")
    found = next((one for one in trials if revision is None or one.revision == revision), None)
    if found is None:
        raise Http404("This model has no trial.")
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in answer_rows(found))
    response = StreamingHttpResponse(lines, content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{model.name}-answers.jsonl"'
    return response


def _reader(request: HttpRequest) -> User:
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404
    return user


def _alias(name: str) -> Alias:
    """The model of this name in models.toml, or `Http404`."""
    try:
        found = load_aliases(settings.MODELS_FILE).get(name)
    except AliasError as error:
        raise Http404(str(error)) from error
    if found is None or found.is_tool:
        raise Http404("This model does not exist.")
    return found


def _rows(trial: Trial, before: Trial | None) -> list[tuple[str, list[tuple[RoleRates, str, Share | None]]]]:
    """Programs by title with their roles: rates, title of the role, and its readable share in the previous revision."""
    earlier = {(one.method, one.role): one.read for one in before.roles} if before else {}
    found: dict[str, list[tuple[RoleRates, str, Share | None]]] = {}
    for one in trial.roles:
        program = RUNNABLE.get(one.method)
        titles = {role.name: role.title for role in program.roles} if program else {}
        title = program.title if program else one.method
        row = (one, titles.get(one.role, one.role), earlier.get((one.method, one.role)))
        found.setdefault(title, []).append(row)
    return list(found.items())
