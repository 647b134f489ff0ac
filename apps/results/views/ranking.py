"""The published ranking for students and coaches, and publishing it."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.contests.access import READABLE, coach_of, contest_get_for
from apps.contests.models import Contest
from apps.contests.selectors import problem_list
from apps.marks.blindness import own_marks_require
from apps.marks.office.cutoffs import cutoffs_fixed
from apps.marks.office.names import names_of
from apps.marks.office.office import office_results_for, result_list
from apps.marks.views.blind import after_own_marks
from apps.results import ranking as rankings
from apps.results.access import ranking_readable
from apps.results.ranking import RankingRefused
from apps.ui.refusals import refusals_shown
from apps.ui.typeset.press import PdfFailed, pdf_of_template


@never_cache
@after_own_marks
@require_GET
def ranking(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """The published ranking; organisers also publish and withdraw it here."""
    user = user_of(request)
    contest, is_organiser = _read_for(user, contest_id)
    published = rankings.ranking_of(contest)
    context: dict[str, Any] = {
        "contest": contest,
        "shown": rankings.ranking_shown(user, published) if published else None,
        "is_coach": coach_of(user, contest) is not None,
        "is_organiser": is_organiser,
        "is_begun": contest.state in READABLE,
    }
    if is_organiser:
        found = result_list(contest)
        knows = names_of(user, contest, found) is not None
        context |= {"found": found, "refusal": rankings.publishing_refusal(contest, found), "knows_names": knows}
        context |= {"in_force": cutoffs_fixed(contest), "not_by_number": rankings.form_refusal(contest, has_names=False)}
        context["not_by_name"] = rankings.form_refusal(contest, has_names=True)
        context["is_outdated"] = published is not None and published.digest != found.digest
    return render(request, "results/ranking.html", context)


@never_cache
@after_own_marks
@require_GET
def ranking_file(request: HttpRequest, contest_id: uuid.UUID, form: str) -> HttpResponse:
    """The published ranking as `csv` or `pdf`, as this reader sees it."""
    user = user_of(request)
    contest, _ = _read_for(user, contest_id)
    published = rankings.ranking_of(contest)
    if published is None or form not in ("csv", "pdf"):
        raise Http404("There is no such file.")
    shown = rankings.ranking_shown(user, published)
    if form == "csv":
        answer = HttpResponse(rankings.ranking_csv(shown), content_type="text/csv; charset=utf-8")
    else:
        try:
            data = pdf_of_template(rankings.TEMPLATE, rankings.ranking_value(shown))
        except PdfFailed as error:
            messages.error(request, str(error))
            return redirect("results:ranking", contest_id=contest_id)
        answer = HttpResponse(data, content_type="application/pdf")
    answer["Content-Disposition"] = f'attachment; filename="{slugify(contest.title) or "contest"}-ranking.{form}"'
    return answer


@require_POST
@after_own_marks
def ranking_change(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Publish the list that was shown (`digest`), `with` names or numbers; or `withdraw` the ranking."""
    user = user_of(request)
    contest = office_results_for(user, contest_id)
    if "withdraw" in request.POST:
        rankings.ranking_withdraw(contest=contest, by=user)
        messages.success(request, "The ranking is withdrawn.")
        return redirect("results:ranking", contest_id=contest_id)
    with refusals_shown(request, RankingRefused):
        has_names = request.POST.get("with") == "names"
        rankings.ranking_publish(contest=contest, by=user, digest=request.POST.get("digest", ""), has_names=has_names)
        messages.success(request, "The ranking is published. Students of the contest can read it now.")
    return redirect("results:ranking", contest_id=contest_id)


def _read_for(user: User, contest_id: uuid.UUID) -> tuple[Contest, bool]:
    """The contest, and whether the user organises it. Raises `Http404`, and `OwnMarksOpen` for a coach who still marks."""
    contest = contest_get_for(user, contest_id)
    coach = coach_of(user, contest)
    if coach is not None:
        own_marks_require(user, *problem_list(contest))
    elif not ranking_readable(user, contest):
        raise Http404("No ranking is published.")
    return contest, coach is not None and coach.is_organiser
