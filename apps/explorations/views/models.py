"""The list of models: each alias with its health, and a test prompt."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.explorations.views.shared import wants_part
from apps.reasoning.domain.errors import AliasError, BackendError
from apps.reasoning.domain.generation import Final
from apps.reasoning.inference.aliases import load_aliases
from apps.runs.models_status import AliasStatus, alias_status, prompt_try

STATE_CLASSES = {"ready": "ok", "loading": "running", "unloaded": "ok", "down": "down", "no worker": "down"}
STATE_WORDS = {"ready": "up", "unloaded": "up, not loaded yet"}
LONGEST_PROMPT = 4000


@require_GET
def model_list(request: HttpRequest) -> HttpResponse:
    """A row per alias; htmx refreshes the rows every few seconds."""
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404
    rows, trouble = _rows()
    name = "_model_rows" if wants_part(request) else "model_list"
    return render(
        request, f"explorations/{name}.html", {"rows": rows, "trouble": trouble, "aliases_file": settings.MODELS_FILE}
    )


@require_POST
def model_test(request: HttpRequest, alias: str) -> HttpResponse:
    """Send one prompt to an alias and show the answer."""
    user = user_of(request)
    if not user.may_see_runs or not _may_exist(alias):
        raise Http404("There is no such alias.")
    text = request.POST.get("text", "").replace("\0", "").strip()
    answer, error = None, ""
    if not text or len(text) > LONGEST_PROMPT:
        error = f"Write a prompt of at most {LONGEST_PROMPT:,} characters."
    else:
        answer, error = _try(alias, text)
    context = {"alias": alias, "text": text, "answer": answer, "error": error}
    if wants_part(request):
        return render(request, "explorations/_model_answer.html", context)
    rows, trouble = _rows()
    return render(request, "explorations/model_list.html", {"rows": rows, "trouble": trouble, **context})


def _try(alias: str, text: str) -> tuple[Final | None, str]:
    try:
        return prompt_try(alias, text), ""
    except (AliasError, BackendError) as error:
        return None, str(error)


def _may_exist(alias: str) -> bool:
    """Whether models.toml may have the alias; true while the file is invalid, so that the answer shows its error."""
    try:
        return alias in load_aliases(settings.MODELS_FILE)
    except AliasError:
        return True


def _rows() -> tuple[list[tuple[AliasStatus, str, str]], str]:
    """Each alias with the class and word of its health; the second value is the reason if the rows are empty."""
    try:
        rows = alias_status()
    except AliasError as error:
        return [], str(error)
    return [(row, STATE_CLASSES.get(row.state, "unknown"), STATE_WORDS.get(row.state, row.state)) for row in rows], ""
