"""Commands to a run, resuming, and the full export."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.explorations import selectors
from apps.explorations.exports import export_lines
from apps.explorations.views.shared import in_threads, run_of, wants_part
from apps.lemmas.search.origin import LEMMA as FROM_LEMMA
from apps.lemmas.search.origin import RUN as FROM_RUN
from apps.lemmas.search.origin import args_from
from apps.runs.access import run_may_start
from apps.runs.models import Run
from apps.runs.services import command_request, run_resume

_TEXT_ARGS = ("text", "lemma", "statement", "proof", "reason")
_NUMBER_ARGS = {"tokens": int, "calls": int, "seconds": float}
_LONGEST = 20_000


@require_POST
def command(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Record a command once per `command_id`; it stays pending until the run reaches a control point."""
    run, user = run_of(request, run_id), user_of(request)
    try:
        asked = command_request(
            run=run,
            user=user,
            command_id=_command_id(request),
            name=request.POST.get("name", ""),
            args=_lemma_args(request, run) if FROM_RUN in request.POST else _args(request),
        )
    except ValidationError as error:
        return _answer(request, run, error.messages[0], ok=False)
    word = selectors.COMMAND_WORDS.get(asked.name, asked.name)
    return _answer(request, run, f"{word}: requested; takes effect at the run's next control point.", ok=True)


@require_POST
def resume(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Queue a failed run again."""
    run = run_of(request, run_id)
    try:
        run_resume(run=run, user=user_of(request))
    except ValidationError as error:
        return _answer(request, run, error.messages[0], ok=False)
    return _answer(request, run, "The run is queued again; finished calls are not repeated.", ok=True)


@require_GET
def export(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    """The run as JSON lines; `?texts=no` omits prompts and answers."""
    run = run_of(request, run_id)
    lines = export_lines(run, texts=request.GET.get("texts") != "no")
    streamed = in_threads(lines) if isinstance(request, ASGIRequest) else lines
    response = StreamingHttpResponse(streamed, content_type="application/x-ndjson; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.public_id}.jsonl"'
    return response


def _command_id(request: HttpRequest) -> uuid.UUID:
    try:
        return uuid.UUID(request.POST.get("command_id", ""))
    except ValueError:
        raise ValidationError(
            "The command was not sent: the form has no valid id. Load the page again and repeat the command."
        ) from None


def _lemma_args(request: HttpRequest, run: Run) -> dict[str, Any]:
    """The arguments for a lemma of another run. Raises `ValidationError` if it may not be put into this run."""
    if request.POST.get("name") != "inject_lemma":
        raise ValidationError("The command was not sent: only a lemma that is added comes from another run.")
    return args_from(user_of(request), run, request.POST.get(FROM_RUN, ""), request.POST.get(FROM_LEMMA, ""))


def _args(request: HttpRequest) -> dict[str, Any]:
    """The filled-in arguments of the form. Raises `ValidationError` for an invalid number."""
    args: dict[str, Any] = {}
    for name in _TEXT_ARGS:
        if value := request.POST.get(name, "").strip():
            if len(value) > _LONGEST:
                raise ValidationError(f"The {name} is longer than {_LONGEST:,} characters.")
            args[name] = value
    for name, kind in _NUMBER_ARGS.items():
        if value := request.POST.get(name, "").strip().replace(",", ""):
            try:
                args[name] = kind(value)
            except ValueError:
                raise ValidationError(f"{name.capitalize()} must be a number, not {value[:40]!r}.") from None
    return args


def _answer(request: HttpRequest, run: Run, text: str, *, ok: bool) -> HttpResponse:
    """The updated header with a reply to the command; for plain forms a message on the run's page."""
    if not wants_part(request):
        (messages.success if ok else messages.error)(request, text)
        return redirect("explorations:run_detail", run_id=run.public_id)
    run.refresh_from_db()
    user = user_of(request)
    context = {
        "run": run,
        "header": selectors.header(run, user, len(selectors.open_calls_of(run))),
        "new_command": uuid.uuid4(),
        "may_start": run_may_start(user),
        "said": text,
        "said_ok": ok,
    }
    return render(request, "explorations/_header.html", context)
