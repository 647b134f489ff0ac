"""Scanned pages: the tray, where pages are assigned with two keys, pictures, and the pages of a student.

No address or form names a paper: its id is next to its number on the pages of markers, and here next to a name.
"""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.contests.models import Contest, ContestProblem, Identity
from apps.scanning import tray as actions
from apps.scanning.access import page_get_for, scans_contest_for
from apps.scanning.models import PageState, ScannedPage
from apps.scanning.receiving import ScansRefused, scans_refusal
from apps.scanning.selectors import tray_of
from apps.ui.refusals import refusals_shown
from apps.ui.sent import uuid_of, whole_number

SHOWN = 200


@never_cache
@require_GET
def tray(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """One page of the tray, the first or `page`, with the form that assigns it."""
    contest = scans_contest_for(user_of(request), contest_id)
    waiting = list(tray_of(contest).values_list("public_id", flat=True))
    asked = uuid_of(request.GET.get("page", ""))
    place = waiting.index(asked) if asked in waiting else 0
    page = tray_of(contest).filter(public_id=waiting[place]).first() if waiting else None
    context = {
        "contest": contest,
        "page": page,
        "place": place + 1,
        "count": len(waiting),
        "previous": waiting[place - 1] if place else None,
        "next": waiting[place + 1] if place + 1 < len(waiting) else None,
        "refusal": scans_refusal(contest),
        **_places(contest),
    }
    return render(request, "scanning/tray.html", context)


@never_cache
@require_GET
def gallery(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """The pages of a student (`student`), or of a state (`state`), small."""
    contest = scans_contest_for(user_of(request), contest_id)
    rows = ScannedPage.objects.filter(file__contest=contest).defer("jpeg").select_related("file", "problem")
    state = request.GET.get("state", "")
    identity = None
    if asked := whole_number(request.GET.get("student", "")):
        identity = contest.identities.filter(pk=asked).first()
        if identity is None:
            raise Http404("There is no such student.")
        rows = rows.filter(paper=identity.paper_id).order_by("problem__position", "sheet", "file__path", "number")
    elif state == PageState.TRAY:
        rows = tray_of(contest)
    elif state in PageState.values:
        rows = rows.filter(state=state)
    else:
        raise Http404("There is no such page.")
    found = list(rows[: SHOWN + 1])
    context = {
        "contest": contest,
        "identity": identity,
        "title": identity.name if identity else PageState(state).label,
        "pages": found[:SHOWN],
        "has_more": len(found) > SHOWN,
        "refusal": scans_refusal(contest),
    }
    if state == PageState.TRAY and identity is None:
        context |= _places(contest)
    return render(request, "scanning/gallery.html", context)


@cache_control(private=True, max_age=3600)
@require_GET
def picture(request: HttpRequest, page_id: uuid.UUID) -> HttpResponse:
    """The picture of a page."""
    page = page_get_for(user_of(request), page_id)
    if not page.jpeg:
        raise Http404("This page could not be read, so it has no picture.")
    return HttpResponse(bytes(page.jpeg), content_type="image/jpeg")


@require_POST
def change(request: HttpRequest, page_id: uuid.UUID) -> HttpResponse:
    """Assign a page (`assign` with `paper` and `problem`), turn it (`turn`), or put it elsewhere (`put`)."""
    page = page_get_for(user_of(request), page_id)
    contest = page.file.contest
    follows = _next_in_tray(contest, page)
    done: uuid.UUID | None = page.public_id  # A refused change shows the same page again.
    with refusals_shown(request, ScansRefused):
        if "turn" in request.POST:
            actions.page_turn(page=page, degrees=whole_number(request.POST["turn"], 3) or 90)
            done = page.public_id
        elif put := request.POST.get("put", ""):
            if put not in PageState.values:
                raise ScansRefused("A page can be put away, called blank, or back into the tray.")
            actions.page_put(page=page, state=PageState(put))
            done = follows
        else:
            identity, problem = _place_sent(request, contest)
            actions.page_assign(page=page, paper=identity.paper, problem=problem)
            done = follows
    back = request.POST.get("back", "")
    if back and url_has_allowed_host_and_scheme(back, None):
        return redirect(back)
    query = f"?page={done}" if done else ""
    return redirect(reverse("scanning:tray", args=[contest.public_id]) + query)


@require_POST
def assign(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Assign several pages of the tray (`page`) to a student and a problem, in the order of the tray."""
    contest = scans_contest_for(user_of(request), contest_id)
    with refusals_shown(request, ScansRefused):
        identity, problem = _place_sent(request, contest)
        asked = {found for text in request.POST.getlist("page") if (found := uuid_of(text))}
        pages = list(tray_of(contest).select_related("file__contest").filter(public_id__in=asked))
        if not asked:
            raise ScansRefused("Choose the pages first.")
        if len(pages) < len(asked):
            raise ScansRefused("Nothing was assigned: some of these pages are no longer in the tray. Choose again.")
        count = actions.pages_assign(pages=pages, paper=identity.paper, problem=problem)
        words = f"{count} page{'' if count == 1 else 's'} assigned to {identity.name}, problem {problem.label}."
        messages.success(request, words)
    return redirect(f"{reverse('scanning:gallery', args=[contest.public_id])}?state={PageState.TRAY}")


def _places(contest: Contest) -> dict[str, Any]:
    """The students and problems to which pages can be assigned."""
    students = contest.identities.select_related("paper").order_by("name", "pk")
    return {"students": students, "problems": contest.problems.all()}


def _place_sent(request: HttpRequest, contest: Contest) -> tuple[Identity, ContestProblem]:
    """The student and the problem of a form. Raises `ScansRefused`."""
    student, asked = whole_number(request.POST.get("student", "")), uuid_of(request.POST.get("problem", ""))
    identity = contest.identities.filter(pk=student).select_related("paper").first() if student else None
    problem = contest.problems.filter(public_id=asked).first() if asked else None
    if identity is None or problem is None:
        raise ScansRefused("Choose the student and the problem.")
    return identity, problem


def _next_in_tray(contest: Contest, page: ScannedPage) -> uuid.UUID | None:
    waiting = list(tray_of(contest).values_list("public_id", flat=True))
    if page.public_id not in waiting:
        return None
    place = waiting.index(page.public_id)
    left = [*waiting[place + 1 :], *waiting[:place]]
    return left[0] if left else None
