"""The panel next to a sealed mark: suggestions by stage, precedents, agreed marks of calibration scripts.

Each address returns only the panel to htmx; otherwise it returns its own page or redirects to it.
"""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import run_reader_of, user_of
from apps.marks.access import TaskGone, task_get_for
from apps.marks.coordination.precedents import precedents_show
from apps.marks.models import Mark, MarkState
from apps.marks.sealing import revealing
from apps.marks.sealing.revising import RevisionRefused
from apps.marks.sealing.seeing import mark_sealed_for
from apps.marks.selectors import pages_of, steps_set
from apps.marks.workspace import triage
from apps.marks.workspace.panel import marks_own, panel_of
from apps.reasoning.marking.revealing import Stage
from apps.reasoning.marking.sheets.pages import place_read
from apps.reasoning.marking.sheets.positions import PositionWrong
from apps.ui.plain_text import without_nul

SHOWN = 200


@never_cache
@require_GET
def sealed_list(request: HttpRequest) -> HttpResponse:
    """The marks that the user sealed in contests being marked, newest first, and their suggestions in groups."""
    user = run_reader_of(request)
    return render(request, "marks/sealed_list.html", {"marks": marks_own(user)[:SHOWN], "triage": triage.triage_of(user)})


@require_POST
def triage_show(request: HttpRequest) -> HttpResponse:
    """Show where findings are in all sealed scripts."""
    count = triage.triage_look(user=run_reader_of(request))
    if not count:
        messages.info(request, "There are no new suggestions at the moment.")
    return redirect("marks:sealed_list")


@require_POST
def triage_keep(request: HttpRequest) -> HttpResponse:
    """Stay with all marks where nothing was found."""
    kept, refused = triage.triage_clear(user=run_reader_of(request))
    messages.success(request, f"You stayed with {kept} mark{'s' * (kept != 1)}.")
    for sentence in refused:
        messages.warning(request, sentence)
    return redirect("marks:sealed_list")


@never_cache
@require_GET
def reveal(request: HttpRequest, task_id: uuid.UUID) -> HttpResponse:
    """What may be shown for the mark now. A GET reveals nothing new, except the agreed mark of a calibration script."""
    return _panel(request, _mark(request, task_id))


@require_POST
def reveal_show(request: HttpRequest, task_id: uuid.UUID) -> HttpResponse:
    """Show the next stage (`stage`), or the precedents."""
    mark = _mark(request, task_id)
    asked = request.POST.get("stage", "")
    if asked == "precedents":
        precedents_show(mark)
        return _done(request, mark)
    if asked not in set(Stage):
        raise Http404("There is no such stage.")
    try:
        revealing.stage_show(mark=mark, stage=Stage(asked))
    except revealing.RevealRefused as refused:
        return _done(request, mark, str(refused))
    return _done(request, mark)


@require_POST
def reveal_answer(request: HttpRequest, task_id: uuid.UUID) -> HttpResponse:
    """Accept or reject one finding."""
    mark = _mark(request, task_id)
    answer = request.POST.get("answer", "")
    if answer not in ("accept", "reject"):
        raise Http404("There is no such answer.")
    try:
        revealing.finding_answer(
            mark=mark,
            suggestion=request.POST.get("suggestion", ""),
            finding=request.POST.get("finding", ""),
            is_accepted=answer == "accept",
        )
    except revealing.RevealRefused as refused:
        return _done(request, mark, str(refused))
    return _done(request, mark)


@require_POST
def reveal_decide(request: HttpRequest, task_id: uuid.UUID) -> HttpResponse:
    """Keep the mark, or change it for one of four reasons."""
    mark = _mark(request, task_id)
    post = without_nul(request.POST)
    step = post.get("step", "").strip()
    try:
        if post.get("decision") == "keep":
            revealing.mark_keep(mark=mark)
        else:
            change = revealing.Change(
                line=post.get("claim", ""),
                reason=post.get("reason", ""),
                step=place_read(step, has_steps=mark.task.case.version.steps.exists()),
                words=" ".join(post.get("words", "").split())[:400],
            )
            revealing.mark_change(mark=mark, change=change)
    except (revealing.RevealRefused, PositionWrong, RevisionRefused) as refused:
        return _done(request, mark, str(refused))
    return _done(request, mark)


def _mark(request: HttpRequest, task_id: uuid.UUID) -> Mark:
    user = user_of(request)
    try:
        return mark_sealed_for(user, task_get_for(user, task_id))
    except TaskGone as gone:
        raise Http404(str(gone)) from gone


def _done(request: HttpRequest, mark: Mark, refusal: str = "") -> HttpResponse:
    if "HX-Request" in request.headers:
        mark.refresh_from_db()
        return _panel(request, mark, refusal)
    if refusal:
        messages.error(request, refusal)
    return redirect("marks:reveal", task_id=mark.task.public_id)


def _panel(request: HttpRequest, mark: Mark, refusal: str = "") -> HttpResponse:
    is_part = "HX-Request" in request.headers or request.GET.get("part") == "1"
    typed = request.POST if refusal and request.POST.get("decision") == "change" else None
    context = {"panel": panel_of(mark), "mark": mark, "task": mark.task, "refusal": refusal, "typed": typed}
    if mark.state in (MarkState.CONFIRMED, MarkState.REVISED):
        context["onward"] = triage.triage_next(mark.marker)
    if is_part:
        return render(request, "marks/_reveal.html", context)
    context |= {"steps": steps_set(mark.task), "pages": pages_of(mark.task.case.version)}
    return render(request, "marks/reveal.html", context, status=422 if refusal else 200)
