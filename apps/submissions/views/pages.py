"""Scans and photos: upload, order and images."""

import time
import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.contests.access import problem_own_for
from apps.contests.services import ContestRefused
from apps.contests.windows import writing_refusal
from apps.submissions import scans, services
from apps.submissions.access import NO_PAGE, scan_get_for
from apps.submissions.intake import PAGES_AT_MOST, WALL_S, PageImage, UploadWrong, pages_read
from apps.ui.refusals import refusals_shown

FILES_AT_ONCE = 10
#: Time limit for all files of one upload, in seconds.
READING_S = 60.0


@require_POST
def pages_add(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Add the pages of one to ten uploaded files to the draft: all files or none."""
    paper, problem = problem_own_for(user_of(request), problem_id)
    with refusals_shown(request, ContestRefused, UploadWrong):
        if refusal := writing_refusal(problem):
            raise ContestRefused(refusal)
        pages = _pages(request)
        scans.scans_add(paper=paper, problem=problem, pages=pages)
        messages.success(request, f"Added {len(pages)} page{'s' if len(pages) > 1 else ''} to your draft.")
    return redirect("submissions:write", problem_id=problem_id)


@require_POST
def page_change(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Apply `action` to the page `scan`: `remove`, `earlier`, or `assign` to the problem `to`."""
    user = user_of(request)
    paper, problem = problem_own_for(user, problem_id)
    action = request.POST.get("action", "")
    submission = services.submission_of(paper, problem)
    asked = _id(request.POST.get("scan", ""))
    scan = submission.scans.filter(public_id=asked).first() if submission.pk else None
    if scan is None or scan.position is None or action not in ("remove", "earlier", "assign"):
        raise Http404(NO_PAGE)
    with refusals_shown(request, ContestRefused):
        if action == "remove":
            scans.scan_remove(scan=scan)
        elif action == "earlier":
            scans.scan_earlier(scan=scan)
        else:
            scans.scan_assign(scan=scan, problem=problem_own_for(user, _id(request.POST.get("to", "")))[1])
    return redirect("submissions:write", problem_id=problem_id)


@never_cache
@require_GET
def page_image(request: HttpRequest, scan_id: uuid.UUID) -> HttpResponse:
    """The image of a page, under a neutral filename."""
    scan = scan_get_for(user_of(request), scan_id)
    response = HttpResponse(bytes(scan.jpeg), content_type="image/jpeg")
    response["Content-Disposition"] = 'inline; filename="page.jpg"'
    return response


def _pages(request: HttpRequest) -> list[PageImage]:
    files = request.FILES.getlist("files")
    if not files:
        raise UploadWrong("Choose a PDF or photos first.")
    if len(files) > FILES_AT_ONCE:
        raise UploadWrong(f"No pages were added: upload at most {FILES_AT_ONCE} files at once.")
    pages: list[PageImage] = []
    until = time.monotonic() + READING_S
    for number, file in enumerate(files, 1):
        try:
            if (left := until - time.monotonic()) <= 0:
                raise UploadWrong("The time limit was reached before this file. Upload fewer files at once.")
            pages += pages_read(file.read(), wall_s=min(WALL_S, left))
        except UploadWrong as error:
            raise UploadWrong(f"File {number}: {error} No pages were added." if len(files) > 1 else str(error)) from error
        if len(pages) > PAGES_AT_MOST:
            raise UploadWrong(f"No pages were added: a problem has at most {PAGES_AT_MOST} pages.")
    return pages


def _id(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError as error:
        raise Http404(NO_PAGE) from error
