"""Views of the pairs behind a number of the agreement page, and of people's reasons for disagreements."""

import uuid
from urllib.parse import parse_qsl

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.agreement.buckets import BucketRefused, bucket_assign, bucket_of, buckets_of, name_key
from apps.agreement.choosing import PEOPLE, SCORED, Which, pairs_listed, query_of
from apps.agreement.models import NOTE_LENGTH, Bucket
from apps.agreement.pairs import PairShown, pairs_shown
from apps.agreement.views.agreement import asked_of
from apps.files.tables import FileWrong
from apps.ui.refusals import refusals_shown

PAGE = 50


@never_cache
@require_GET
def agreement_pairs(request: HttpRequest, kind: str, source_id: uuid.UUID) -> HttpResponse:
    """List the pairs behind a number, fifty per page."""
    try:
        source, choices, chosen, gathered = asked_of(request, kind, source_id)
    except FileWrong as error:
        messages.error(request, str(error))
        return redirect("agreement:columns", file_id=source_id)
    which = Which.read(request.GET, gathered)
    listed = pairs_listed(gathered, which)
    if which.bucket:
        buckets = buckets_of(source.key, which.of)
        listed = [pair for pair in listed if bucket_of(buckets.get(name_key(pair.paper), [])) == which.bucket]
    page = Paginator(listed, PAGE).get_page(request.GET.get("page"))
    names = {one.name: one.words for one in choices.graders} | {PEOPLE: "Second person"}
    rows: list[PairShown] = pairs_shown(source, which.of, list(page.object_list), user_of(request))
    context = {
        "source": source,
        "kind": kind,
        "source_id": source_id,
        "grader": names.get(which.of, which.of),
        "conditions": which.words,
        "page": page,
        "rows": rows,
        "query": query_of(chosen, **which.query),
        "hidden": [*parse_qsl(query_of(chosen, **which.query)), ("page", str(page.number))],
        "back": f"{reverse('agreement:detail', args=[kind, source_id])}?{query_of(chosen)}",
        "buckets": Bucket.choices,
        "note_length": NOTE_LENGTH,
        "takes_buckets": which.kind == SCORED and which.of != PEOPLE,
    }
    return render(request, "agreement/pairs.html", context)


@require_POST
def agreement_bucket(request: HttpRequest, kind: str, source_id: uuid.UUID) -> HttpResponse:
    """Save or remove the user's reason for one disagreeing pair, and return to the list."""
    source, _, chosen, gathered = asked_of(request, kind, source_id)
    which = Which.read(request.POST, gathered)
    paper = request.POST.get("name", "")
    pair = next((one for one in gathered.graders.get(which.of, ()) if one.paper == paper), None)
    with refusals_shown(request, BucketRefused):
        if pair is None:
            raise BucketRefused("The reason was not saved: this pair no longer exists.")
        bucket_assign(
            user=user_of(request), source=source.key, grader=which.of, pair=pair,
            bucket=request.POST.get("why", ""), note=request.POST.get("note", ""),
        )  # fmt: skip
        messages.success(request, "Reason saved." if request.POST.get("why") else "Reason removed.")
    query = query_of(chosen, **which.query, page=request.POST.get("page", "")[:6])
    return redirect(f"{reverse('agreement:pairs', args=[kind, source_id])}?{query}")
