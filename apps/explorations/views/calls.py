"""Permalinks: one call with its texts, one event with its neighbours."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.explorations import selectors
from apps.explorations.calls.detail import call_detail
from apps.explorations.views.shared import run_of
from apps.explorations.words import FINISH_WORDS, role_word
from apps.lemmas.formula_checks import formulas_of_answer


@require_GET
def call(request: HttpRequest, run_id: uuid.UUID, key: str) -> HttpResponse:
    """One call: prompt, text, reasoning, usage, times and results; for a tool call its input and output."""
    run = run_of(request, run_id)
    detail = call_detail(run, key)
    if detail is None:
        raise Http404("This run has no such call.")
    role = detail.role
    is_tool = "job" in detail.began or (detail.step is not None and detail.step.kind == "tool")
    context = {
        "run": run,
        "detail": detail,
        "step": detail.step,
        "role": role,
        "word": role_word(role),
        "finish": FINISH_WORDS.get(detail.step.finish_reason, "") if detail.step else "",
        "formulas": formulas_of_answer(detail.text) if role == "check_math" else [],
    }
    return render(request, "explorations/tool_detail.html" if is_tool else "explorations/call_detail.html", context)


@require_GET
def event(request: HttpRequest, run_id: uuid.UUID, seq: int) -> HttpResponse:
    """One event of the log with its neighbours."""
    run = run_of(request, run_id)
    chosen, around = selectors.event_neighbours(run, seq)
    if chosen is None:
        raise Http404("This run has no such event.")
    return render(request, "explorations/event_detail.html", {"run": run, "event": chosen, "around": around})
