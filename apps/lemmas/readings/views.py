"""The requests for readings by a model on the pages of lemmas and proofs."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.lemmas.models import PROOF_PREFIX
from apps.lemmas.readings.models import ModelReadings
from apps.lemmas.readings.services import readings_ask, readings_of
from apps.runs.access import run_get_for
from apps.runs.models import Run


@require_POST
def readings_request(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Let the model `alias` read the formulas of `subject` that our check did not understand."""
    run = run_get_for(user_of(request), run_id)
    subject = request.POST.get("subject", "")
    readings_ask(user_of(request), run, subject, request.POST.get("alias", ""))
    if request.headers.get("HX-Request") != "true":
        if subject.startswith(PROOF_PREFIX):
            return redirect("lemmas:proof_panel", run.public_id, subject.removeprefix(PROOF_PREFIX))
        return redirect("lemmas:lemma_panel", run.public_id, subject)
    return _shown(request, run, subject)


@require_GET
def readings_state(request: HttpRequest, run_id: uuid.UUID, readings: int) -> HttpResponse:
    """The newest state of all readings of the text of a request, as a partial."""
    run = run_get_for(user_of(request), run_id)
    row = ModelReadings.objects.filter(run=run, pk=readings).first()
    if row is None:
        raise Http404("This run has no such readings.")
    return _shown(request, run, row.subject)


def _shown(request: HttpRequest, run: Run, subject: str) -> HttpResponse:
    return render(request, "lemmas/_readings.html", {"run": run, "readings": readings_of(user_of(request), run, subject)})
