"""Releasing results: readiness, the preview as a student, one batch, taking it back."""

import uuid

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.contests.models import Contest
from apps.marks.grades import grade_of
from apps.marks.models import ReleasePart
from apps.marks.sealing.seeing import marks_shown
from apps.marks.views.blind import after_own_marks
from apps.results import releasing
from apps.results.access import case_previewed_for, organised_get_for
from apps.results.forms import PART_HELP, ReleaseForm
from apps.results.shown import result_of
from apps.ui.refusals import refusals_shown

PREVIEWED = (ReleasePart.COMMENTS, ReleasePart.VERDICTS, ReleasePart.POINTS, ReleasePart.SCHEME)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def release(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """What is ready and what was released; a POST releases one batch."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    if request.method != "POST":
        return _page(request, contest)
    form = ReleaseForm(request.POST)
    if not form.is_valid():
        return _page(request, contest, "Choose at least one part to release.", form)
    address = request.build_absolute_uri(reverse("results:own", kwargs={"contest_id": contest.public_id}))
    try:
        batch = releasing.batch_release(contest=contest, by=user, address=address, **form.cleaned_data)
    except releasing.ReleaseRefused as error:
        return _page(request, contest, str(error), form)
    minutes = round((batch.undo_until - timezone.now()).total_seconds() / 60)
    messages.success(
        request, f"Released. You can take it back for {minutes} minute{'' if minutes == 1 else 's'}; mails are sent after that."
    )
    return redirect("results:release", contest_id=contest_id)


@require_POST
def release_undo(request: HttpRequest, contest_id: uuid.UUID, batch_id: uuid.UUID) -> HttpResponse:
    """Take a batch back."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    batch = get_object_or_404(contest.releases, public_id=batch_id)
    with refusals_shown(request, releasing.ReleaseRefused):
        releasing.batch_undo(batch=batch, by=user)
        messages.success(request, "The release is taken back. Students see what they saw before it.")
    return redirect("results:release", contest_id=contest_id)


@never_cache
@after_own_marks
@require_GET
def preview(request: HttpRequest, contest_id: uuid.UUID, case_id: uuid.UUID) -> HttpResponse:
    """A text as its author would see it with the parts in `?part=`; with all parts if none is named."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    case = case_previewed_for(user, contest, case_id)
    asked = [part for part in PREVIEWED if part in request.GET.getlist("part")] or list(PREVIEWED)
    grade = grade_of(case)
    marks_shown(case, user, "release preview")
    context = {
        "contest": contest,
        "problem": case.problem,
        "paper": case.version.submission.paper,
        "case": case,
        "version": case.version,
        "result": result_of(case.version, dict.fromkeys(asked, grade) if grade else {}),
        "choices": [(part, part.label, part in asked) for part in PREVIEWED],
        "is_preview": True,
    }
    return render(request, "results/preview.html", context)


def _page(request: HttpRequest, contest: Contest, refusal: str = "", form: ReleaseForm | None = None) -> HttpResponse:
    ready = releasing.readiness(contest)
    chosen = set(form["parts"].value() or ()) if form is not None else ready.parts or {ReleasePart.COMMENTS.value}
    batches = list(reversed(list(contest.releases.select_related("by"))))
    active = [batch for batch in batches if batch.undone_at is None]
    context = {
        "contest": contest,
        "ready": ready,
        "refusal": refusal,
        "parts": [(part, part.label, PART_HELP[part], part in chosen, part in ready.parts) for part in ReleasePart],
        "undo_minutes": settings.RELEASE_UNDO_MIN,
        "labels": dict(ReleasePart.choices),
        "batches": [(batch, [ReleasePart(part).label for part in batch.parts]) for batch in batches],
        "undoable": active[0].pk if active and timezone.now() < active[0].undo_until else None,
        "examples": releasing.examples(ready, user_of(request)),
    }
    return render(request, "results/release.html", context, status=422 if refusal else 200)
