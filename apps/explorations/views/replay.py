"""The data of a replay: compact events, and texts of calls."""

import uuid

from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_GET

from apps.explorations.replay import call_texts, replay_page
from apps.explorations.views.shared import run_of
from apps.ui.sent import whole_number


@require_GET
def run_replay(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    """A page of compact events with `seq > after`."""
    run = run_of(request, run_id)
    after = whole_number(request.GET.get("after", "")) or 0
    etag = f'"{run.public_id}-{run.last_seq}-{after}"'
    response = get_conditional_response(request, etag=etag) or JsonResponse(replay_page(run, after))
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


@require_GET
def call_text(request: HttpRequest, run_id: uuid.UUID, key: str) -> JsonResponse:
    """Text and thinking of a recorded call."""
    found = call_texts(run_of(request, run_id), key)
    if found is None:
        raise Http404("This run has no such call.")
    response = JsonResponse(found)
    response["Cache-Control"] = "private, max-age=3600"
    return response
