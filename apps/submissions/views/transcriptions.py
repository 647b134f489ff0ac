"""Transcriptions proposed by a model, shown next to the pages of a draft.

Their buttons submit the editor's form, so that each request also saves the draft.
"""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.contests.access import problem_own_for
from apps.contests.services import ContestRefused
from apps.contests.windows import writing_refusal
from apps.submissions import services, transcriptions
from apps.submissions.access import NO_PAGE, scan_own_for
from apps.submissions.forms import TextForm
from apps.submissions.models import Scan, Submission
from apps.submissions.views.writing import editor_page, words_keep
from apps.ui.sent import uuid_of

VERBS = ("ask", "take", "decline", "look")


@require_POST
def transcription(request: HttpRequest, problem_id: uuid.UUID, verb: str) -> HttpResponse:
    """Save the draft, then `ask` for a transcription, `take` or `decline` a proposal, or only reload (`look`).

    `scan` is the page; `ask` without it requests all pages without a request.
    """
    paper, problem = problem_own_for(user_of(request), problem_id)
    if verb not in VERBS:
        raise Http404("There is no such page.")
    form = TextForm(request.POST)
    submission = services.submission_of(paper, problem)
    if not form.is_valid():
        return editor_page(request, problem, submission, form, status=422)
    words_keep(request, submission)
    try:
        draft = services.draft_save(paper=paper, problem=problem, **form.cleaned_data)
        _apply(verb, draft, _requested_scan(request, draft, verb))
    except services.DraftChanged as changed:
        return editor_page(request, problem, changed.submission, form, is_stale=True, status=409)
    except ContestRefused as error:
        messages.error(request, str(error))
    return HttpResponseRedirect(reverse("submissions:write", kwargs={"problem_id": problem_id}) + "#scans")


@never_cache
@require_GET
def transcription_state(request: HttpRequest, scan_id: uuid.UUID) -> HttpResponse:
    """Render the state of a transcription for the polling editor."""
    scan = scan_own_for(user_of(request), scan_id)
    problem = scan.submission.problem
    context = {
        "scan": scan,
        "problem": problem,
        "page_model": transcriptions.page_model(),
        "refusal": writing_refusal(problem),
        "number": scan.submission.scans.exclude(position=None).filter(position__lt=scan.position).count() + 1,
    }
    return render(request, "submissions/_transcription.html", context)


def _requested_scan(request: HttpRequest, draft: Submission, verb: str) -> Scan | None:
    """The page of the request; None for `ask` and `look` without a page. Raises `Http404`."""
    public_id = request.POST.get("scan", "")
    if not public_id and verb in ("ask", "look"):
        return None
    scan = draft.scans.exclude(position=None).filter(public_id=public_id).first() if uuid_of(public_id) else None
    if scan is None:
        raise Http404(NO_PAGE)
    return scan


def _apply(verb: str, draft: Submission, scan: Scan | None) -> None:
    if verb == "ask" and scan is None:
        transcriptions.transcriptions_ask(submission=draft)
    elif scan is None:
        return
    elif verb == "ask":
        transcriptions.transcription_ask(scan=scan)
    elif verb == "take":
        transcriptions.transcription_take(scan=scan, draft=draft)
    elif verb == "decline":
        transcriptions.transcription_decline(scan=scan)
