"""Files of scans: answer sheets, uploads in pieces, progress, handing in."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.contests.models import Contest
from apps.scanning import handing_in, receiving
from apps.scanning.access import file_get_for, scans_contest_for
from apps.scanning.models import PageState
from apps.scanning.placing import files_place_again
from apps.scanning.receiving import PIECE_BYTES, ScansRefused, scans_refusal
from apps.scanning.selectors import files_failed, files_read, progress_of, put_aside, table_of, tray_of
from apps.scanning.sheets import SheetsRefused, sheets_pdf
from apps.ui.refusals import refusals_shown
from apps.ui.sent import whole_number
from apps.ui.typeset.press import PdfFailed

FILES_SHOWN = 200
PAGES_USUAL = 3


@never_cache
@require_GET
def overview(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Answer sheets, uploads, and the table of students and problems."""
    contest = scans_contest_for(user_of(request), contest_id)
    return render(request, "scanning/overview.html", _context(contest))


@never_cache
@require_GET
def progress(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """The part of the page that changes while files are read."""
    contest = scans_contest_for(user_of(request), contest_id)
    return render(request, "scanning/_progress.html", _context(contest))


@require_POST
def sheets(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """The answer sheets of the whole roster as PDF."""
    contest = scans_contest_for(user_of(request), contest_id)
    pages = whole_number(request.POST.get("pages", ""), 2)
    try:
        data = sheets_pdf(contest, pages=PAGES_USUAL if pages is None else pages)
    except (SheetsRefused, PdfFailed) as error:
        messages.error(request, str(error))
        return redirect("scanning:overview", contest_id=contest_id)
    answer = HttpResponse(data, content_type="application/pdf")
    answer["Content-Disposition"] = 'attachment; filename="answer-sheets.pdf"'
    return answer


@require_POST
def begin(request: HttpRequest, contest_id: uuid.UUID) -> JsonResponse:
    """Begin an upload of `path` with `size` bytes, or find it; answers where to send pieces and how much is there."""
    user = user_of(request)
    contest = scans_contest_for(user, contest_id)
    try:
        found = receiving.file_begin(
            contest=contest,
            path=request.POST.get("path", ""),
            size=whole_number(request.POST.get("size", ""), 12) or 0,
            by=user,
            mark=request.POST.get("mark", ""),
        )
    except ScansRefused as error:
        return JsonResponse({"error": str(error)}, status=422)
    return JsonResponse({"file": str(found.public_id), "received": found.received, "piece": PIECE_BYTES})


@require_POST
def piece(request: HttpRequest, file_id: uuid.UUID) -> JsonResponse:
    """Add the bytes of the body at `at`; answers how much is there."""
    file = file_get_for(user_of(request), file_id)
    at = whole_number(request.GET.get("at", ""), 12)
    try:
        file = receiving.piece_add(file=file, at=-1 if at is None else at, data=request.body)
    except ScansRefused as error:
        return JsonResponse({"error": str(error)}, status=422)
    return JsonResponse({"received": file.received, "reason": file.reason})


@require_POST
def add(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Files of a form, for browsers without JavaScript."""
    user = user_of(request)
    contest = scans_contest_for(user, contest_id)
    with refusals_shown(request, ScansRefused):
        for upload in request.FILES.getlist("files"):
            found = receiving.file_begin(contest=contest, path=upload.name or "", size=upload.size or 0, by=user)
            while data := upload.read(PIECE_BYTES):
                found = receiving.piece_add(file=found, at=found.received, data=data)
    return redirect("scanning:overview", contest_id=contest_id)


@require_http_methods(["GET", "POST"])
def file(request: HttpRequest, file_id: uuid.UUID) -> HttpResponse | StreamingHttpResponse:
    """The bytes of a file as it was uploaded; POST removes it (`remove`) or reads it again (`again`)."""
    user = user_of(request)
    found = file_get_for(user, file_id)
    if request.method == "POST":
        with refusals_shown(request, ScansRefused):
            if "again" in request.POST:
                receiving.file_again(file=found)
            elif "remove" in request.POST:
                receiving.file_remove(file=found, by=user)
                messages.success(request, f"Removed {found.path}.")
        return redirect("scanning:overview", contest_id=found.contest.public_id)
    answer = StreamingHttpResponse(receiving.pieces_of(found), content_type="application/octet-stream")
    answer.headers["Content-Disposition"] = (
        f'attachment; filename="{found.name.encode("ascii", "replace").decode().replace(chr(34), "")}"'
    )
    return answer


@require_POST
def hand_in(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Hand in all placed pages."""
    user = user_of(request)
    contest = scans_contest_for(user, contest_id)
    with refusals_shown(request, ScansRefused):
        done = handing_in.hand_in(contest=contest, by=user)
        words = f"Handed in: texts {done.texts}, pages {done.pages}."
        messages.success(request, words if done.texts else "Nothing has changed since the pages were handed in.")
    return redirect("scanning:overview", contest_id=contest_id)


@require_POST
def place_again(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Place the pages of the tray again, as after students were added."""
    contest = scans_contest_for(user_of(request), contest_id)
    placed = files_place_again(contest)
    messages.success(request, f"{placed} page{'' if placed == 1 else 's'} left the tray.")
    return redirect("scanning:overview", contest_id=contest_id)


def _context(contest: Contest) -> dict[str, Any]:
    problems = list(contest.problems.all())
    failed = list(files_failed(contest)[: FILES_SHOWN + 1])
    return {
        "contest": contest,
        "problems": problems,
        "progress": progress_of(contest),
        "failed": failed[:FILES_SHOWN],
        "has_more": len(failed) > FILES_SHOWN,
        "rows": table_of(contest, problems),
        "waiting": tray_of(contest).count(),
        "read": files_read(contest)[:FILES_SHOWN],
        "aside": [(PageState(state).label, state, count) for state, count in sorted(put_aside(contest).items())],
        "refusal": scans_refusal(contest),
        "pages_usual": PAGES_USUAL,
    }
