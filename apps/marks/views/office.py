"""The contest office: statistics, the result list with its signatures, files, the record."""

import uuid
from dataclasses import replace
from operator import itemgetter
from typing import TypeVar
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.contests.access import coach_of
from apps.contests.models import Contest
from apps.contests.selectors import openings_after_sign_off, problem_list
from apps.contests.services import ContestRefused
from apps.marks.blindness import own_marks_require, problems_shut
from apps.marks.office import exporting, names, office
from apps.marks.office.awards import award_words
from apps.marks.office.charts import problem_charts, problem_words, total_charts, total_words
from apps.marks.office.cutoffs import cutoffs_fixed
from apps.marks.office.printing import paper_printed
from apps.marks.office.result_files import FORMS, result_table, statistics_lines, table_file
from apps.marks.office.statistics import MEANS_FROM, figures
from apps.marks.office.totals import total_figures
from apps.marks.verbs import details_of, verb_words
from apps.marks.views.blind import after_own_marks
from apps.ui.refusals import refusals_shown

PAGE = 100
Answer = TypeVar("Answer", HttpResponse, StreamingHttpResponse)


@never_cache
@require_GET
def statistics(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Statistics of every problem that the user may see; charts are fetched separately."""
    user = user_of(request)
    contest, problems = office.office_get_for(user, contest_id)
    shut = problems_shut(user, problems)
    coach = coach_of(user, contest)
    is_whole = not shut and coach is not None and coach.is_organiser  # Captains see no totals, also of all problems.
    totals = total_figures(office.result_list(contest)) if is_whole else None
    context = {
        "contest": contest,
        "found": [(one, problem_words(one)) for one in figures([row for row in problems if row.pk not in shut])],
        "totals": totals,
        "total_words": total_words(totals) if totals else [],
        "shut": [problem for problem in problems if problem.pk in shut],
        "means_from": MEANS_FROM,
    }
    return render(request, "marks/statistics.html", context)


@never_cache
@after_own_marks
@require_GET
def statistics_data(request: HttpRequest, contest_id: uuid.UUID, problem_id: uuid.UUID) -> JsonResponse:
    """The charts of one problem, as Plotly figures."""
    user = user_of(request)
    _, problems = office.office_get_for(user, contest_id)
    problem = next((one for one in problems if one.public_id == problem_id), None)
    if problem is None:
        raise Http404("There is no such problem.")
    own_marks_require(user, problem)
    return JsonResponse(problem_charts(figures([problem])[0]))


@never_cache
@after_own_marks
@require_GET
def totals_data(request: HttpRequest, contest_id: uuid.UUID) -> JsonResponse:
    """The charts of the whole contest, as Plotly figures."""
    contest = office.office_results_for(user_of(request), contest_id)
    return JsonResponse(total_charts(total_figures(office.result_list(contest))))


@never_cache
@after_own_marks
@require_http_methods(["GET", "HEAD", "POST"])
def results(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """The list by rank and paper number, with names once they are open; a POST signs off the list as shown."""
    user = user_of(request)
    contest = office.office_results_for(user, contest_id)
    if request.method == "POST":
        with refusals_shown(request, office.SignRefused):
            office.results_sign(contest=contest, by=user, digest=request.POST.get("digest", ""))
            messages.success(request, "You signed off this list.")
        return redirect("office:results", contest_id=contest_id)
    signed = [(event, event.body.get("digest", "")) for event in office.signatures(contest)[:20]]
    found = office.result_list(contest)
    known, fixed = names.names_of(user, contest, found), cutoffs_fixed(contest)
    context = {
        "contest": contest,
        "found": found,
        "rows": [
            (row, known.by_paper[row.paper.pk] if known else None, award_words(fixed.cutoffs, row) if fixed else "")
            for row in found.rows
        ],
        "unranked": found.unranked,
        "in_force": fixed,
        "signed": signed,
        "digests": {digest for _, digest in signed},
        "names": known,
        "names_refusal": names.names_refusal(user, contest, found),
        "openings": openings_after_sign_off(contest),
        "forms": FORMS,
    }
    return render(request, "marks/results.html", context)


@require_POST
@after_own_marks
def names_open(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Open all identities for the list that was shown (`digest`). Repeating it has no effect."""
    user = user_of(request)
    contest = office.office_results_for(user, contest_id)
    with refusals_shown(request, names.NamesRefused, ContestRefused):
        names.names_open(contest=contest, by=user, digest=request.POST.get("digest", ""))
        messages.success(request, "Names are now shown next to the results. The record notes that you opened them.")
    return redirect("office:results", contest_id=contest_id)


@never_cache
@after_own_marks
@require_GET
def download(request: HttpRequest, contest_id: uuid.UUID, form: str) -> HttpResponse | StreamingHttpResponse:
    """The list as `csv`, `xlsx` or `jsonl`, by paper number; with `?names=yes` for users who opened the identities."""
    user = user_of(request)
    contest = office.office_results_for(user, contest_id)
    found = office.result_list(contest)
    known = names.names_of(user, contest, found) if request.GET.get("names") == "yes" else None
    if form not in FORMS or (known is None and "names" in request.GET):
        raise Http404("There is no such file.")
    table = result_table(contest, found, known)
    if form == "xlsx":
        problems = figures(list(problem_list(contest)))
        table = replace(table, statistics=statistics_lines(problems, total_figures(found)))
    answer = HttpResponse(table_file(table, form), content_type=FORMS[form])
    return _named(answer, contest, f"results{'-with-names' if known else ''}.{form}")


@never_cache
@after_own_marks
@require_GET
def scripts_csv(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Settled scripts, one line each, with claim and derivation. Papers appear by number only."""
    contest = office.office_results_for(user_of(request), contest_id)
    answer = HttpResponse(exporting.scripts_csv(contest), content_type=FORMS["csv"])
    return _named(answer, contest, "scripts.csv")


@never_cache
@after_own_marks
@require_GET
def research(request: HttpRequest, contest_id: uuid.UUID) -> StreamingHttpResponse:
    """Settled scripts with marks and spans, for research. Papers appear by number only."""
    contest = office.office_results_for(user_of(request), contest_id)
    answer = StreamingHttpResponse(exporting.research_json(contest), content_type=FORMS["jsonl"])
    return _named(answer, contest, "research.jsonl")


@never_cache
@after_own_marks
@require_GET
def paper(request: HttpRequest, contest_id: uuid.UUID, number: str) -> HttpResponse:
    """A marked paper for printing, or for saving as PDF from the browser, which typesets its formulas."""
    contest = office.office_results_for(user_of(request), contest_id)
    found = get_object_or_404(contest.papers, number=number)
    context = {"contest": contest, "paper": found, "problems": paper_printed(contest, found)}
    return render(request, "marks/paper.html", context)


@never_cache
@require_GET
def record(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """The record of events, newest first; `?verb=` and `?paper=` filter it."""
    user = user_of(request)
    contest = office.office_organised_for(user, contest_id)
    problems = list(problem_list(contest))
    shut = problems_shut(user, problems)
    labels = {str(problem.public_id): problem.label for problem in problems}
    verbs = office.record_verbs(contest)
    verb = request.GET.get("verb", "")
    verb = verb if verb in verbs else ""
    number = request.GET.get("paper", "").replace("\0", "").strip().upper()[:6]
    page = Paginator(office.record(contest, verb=verb, number=number, without=shut), PAGE).get_page(request.GET.get("page"))
    chosen = {name: value for name, value in (("verb", verb), ("paper", number)) if value}
    context = {
        "contest": contest,
        "page": page,
        "rows": [(event, list(details_of(event, labels, contest.zone))) for event in page.object_list],
        "verbs": sorted(((one, verb_words(one)) for one in verbs), key=itemgetter(1)),
        "verb": verb,
        "number": number,
        "query": urlencode(chosen),
        "is_shut": bool(shut),
    }
    return render(request, "marks/record.html", context)


def _named(answer: Answer, contest: Contest, ending: str) -> Answer:
    answer["Content-Disposition"] = f'attachment; filename="{slugify(contest.title) or "contest"}-{ending}"'
    return answer
