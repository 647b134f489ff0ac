"""Scans and photos: upload, order and images."""

import time
import uuid
from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.contests.access import problem_own_for
from apps.contests.services import ContestRefused
from apps.contests.windows import writing_refusal
from apps.submissions import scans, services
from apps.submissions.access import NO_PAGE, scan_get_for
from apps.submissions.intake import PAGES_AT_MOST, WALL_S, Cut, PageImage, UploadWrong, pages_read
from apps.submissions.models import Scan
from apps.ui.refusals import refusals_shown

FILES_AT_ONCE = 10
#: Time limit for all files of one upload, in seconds.
READING_S = 60.0
IMAGE_KEPT_S = 3_600
#: Fields of a cut with their values for a whole page.
SIDES = (("left", "0"), ("top", "0"), ("right", "1"), ("bottom", "1"))


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
    """Apply `action` to the page `scan`.

    `remove`, `earlier` and `later` have no fields. `place` has the place `number`, `assign` the problem `to`, and `cut` the
    fields of `Cut`, of which missing ones keep the whole page.
    """
    user = user_of(request)
    paper, problem = problem_own_for(user, problem_id)
    action = request.POST.get("action", "")
    submission = services.submission_of(paper, problem)
    asked = _id(request.POST.get("scan", ""))
    scan = submission.scans.filter(public_id=asked).first() if submission.pk else None
    if scan is None or scan.position is None or action not in {*ACTIONS, "assign"}:
        raise Http404(NO_PAGE)
    with refusals_shown(request, ContestRefused, UploadWrong):
        if action == "assign":
            scans.scan_assign(scan=scan, problem=problem_own_for(user, _id(request.POST.get("to", "")))[1])
        else:
            ACTIONS[action](scan, request.POST)
    return redirect("submissions:write", problem_id=problem_id)


@cache_control(private=True, max_age=IMAGE_KEPT_S)
@require_GET
def page_image(request: HttpRequest, scan_id: uuid.UUID) -> HttpResponse:
    """The image of a page, under a neutral filename. It never changes, so the browser of its reader may keep it for a while."""
    scan = scan_get_for(user_of(request), scan_id)
    response = HttpResponse(bytes(scan.jpeg), content_type="image/jpeg")
    response["Content-Disposition"] = 'inline; filename="page.jpg"'
    return response


def _place(scan: Scan, sent: QueryDict) -> None:
    number = sent.get("number", "")
    if not number.isdecimal() or len(number) > 3:
        raise ContestRefused("The page was not moved: the place is not a number.")
    scans.scan_place(scan=scan, number=int(number))


def _cut(scan: Scan, sent: QueryDict) -> None:
    """The image is drawn before the transaction: this can take seconds."""
    if refusal := writing_refusal(scan.submission.problem):
        raise ContestRefused(refusal)
    try:
        cut = Cut(int(sent.get("turn", "0")), *(float(sent.get(name, whole)) for name, whole in SIDES))
    except ValueError as error:
        raise UploadWrong("The page was not changed: its new edges are not numbers.") from error
    if not cut.is_whole:
        scans.scan_replace(scan=scan, page=pages_read(bytes(scan.jpeg), cut=cut)[0])


#: Changes of a page by the button's value. `assign` is missing here because it needs the user.
ACTIONS: dict[str, Callable[[Scan, QueryDict], None]] = {
    "remove": lambda scan, _: scans.scan_remove(scan=scan),
    "earlier": lambda scan, _: scans.scan_place(scan=scan, number=scans.place_of(scan) - 1),
    "later": lambda scan, _: scans.scan_place(scan=scan, number=scans.place_of(scan) + 1),
    "place": _place,
    "cut": _cut,
}


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
