"""The lineage of the solutions of a run: data for the drawing, and the outline."""

import uuid

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.explorations.candidates.lineage import lineage_data
from apps.explorations.candidates.lineage_levels import lineage_levels
from apps.explorations.views.shared import run_of
from apps.explorations.words import round_word
from apps.lemmas.views import graph_answer
from apps.processes.one_moment import one_moment


@require_GET
@one_moment()
def run_lineage(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    """The lineage as JSON, in the format of the lemma graph; with `after`, the changes since that event."""
    return graph_answer(request, run_of(request, run_id), lineage_data)


@require_GET
@one_moment()
def run_lineage_outline(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The outline of the lineage as a partial."""
    run = run_of(request, run_id)
    levels = lineage_levels(lineage_data(run), round_word(run.scaffold))
    return render(request, "explorations/_lineage_outline.html", {"run": run, "levels": levels})
