"""The contest office: statistics, the result list with its signatures, files, the record."""

import uuid
from operator import itemgetter
from typing import TypeVar
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_of
from apps.contests.models import Contest
from apps.contests.selectors import problem_list
from apps.marks import exporting, office
from apps.marks.blindness import own_marks_require, problems_shut
from apps.marks.charts import TITLES, problem_charts
from apps.marks.printing import paper_printed
from apps.marks.statistics import MEANS_FROM, figures
from apps.marks.verbs import details_of, verb_words
from apps.marks.views.blind import after_own_marks

PAGE = 100
Answer = TypeVar("Answer", HttpResponse, StreamingHttpResponse)


@never_cache
@require_GET
def statistics(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Figures of every problem that the person may see; charts are fetched beside it."""
    user = user_of(request)
    contest, problems = office.office_get_for(user, contest_id)
    shut = problems_shut(user, problems)
    context = {
        "contest": contest,
        "found": figures([problem for problem in problems if problem.pk not in shut]),
        "shut": [problem for problem in problems if problem.pk in shut],
        "charts": TITLES,
        "means_from": MEANS_FROM,
    }
    return render(request, "marks/statistics.html", context)


@never_cache
@after_own_marks
@require_GET
def statistics_data(request: HttpRequest, contest_id: uuid.UUID, problem_id: uuid.UUID) -> JsonResponse:
    """The charts of one problem, as Plotly takes them."""
    user = user_of(request)
    _, problems = office.office_get_for(user, contest_id)
    problem = next((one for one in problems if one.public_id == problem_id), None)
    if problem is None:
        raise Http404("There is no such problem.")
    own_marks_require(user, problem)
    return JsonResponse(problem_charts(figures([problem])[0]))


@never_cache
@after_own_marks
@require_http_methods(["GET", "HEAD", "POST"])
def results(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """The list by rank and paper number; a POST signs it off as it was shown."""
    user = user_of(request)
    contest = office.office_results_for(user, contest_id)
    if request.method == "POST":
        try:
            office.results_sign(contest=contest, by=user, digest=request.POST.get("digest", ""))
        except office.SignRefused as refused:
            messages.error(request, str(refused))
        else:
            messages.success(request, "Signed off.")
        return redirect("office:results", contest_id=contest_id)
    signed = [(event, event.body.get("digest", "")) for event in office.signatures(contest)[:20]]
    context = {"contest": contest, "found": office.result_list(contest), "signed": signed}
    return render(request, "marks/results.html", context)


@never_cache
@after_own_marks
@require_GET
def download(request: HttpRequest, contest_id: uuid.UUID, form: str) -> HttpResponse | StreamingHttpResponse:
    """`csv`: results for spreadsheets; `jsonl`: settled scripts with marks and spans, for research."""
    contest = office.office_results_for(user_of(request), contest_id)
    if form == "csv":
        answer = HttpResponse(exporting.results_csv(contest), content_type="text/csv; charset=utf-8")
        return _named(answer, contest, "results.csv")
    if form == "jsonl":
        kind = "application/x-ndjson; charset=utf-8"
        return _named(StreamingHttpResponse(exporting.research_json(contest), content_type=kind), contest, "research.jsonl")
    raise Http404("Results come as csv or jsonl.")


@never_cache
@after_own_marks
@require_GET
def paper(request: HttpRequest, contest_id: uuid.UUID, number: str) -> HttpResponse:
    """A marked paper, made for printing or saving as PDF from the browser, where its formulas are set."""
    contest = office.office_results_for(user_of(request), contest_id)
    found = get_object_or_404(contest.papers, number=number)
    context = {"contest": contest, "paper": found, "problems": paper_printed(contest, found)}
    return render(request, "marks/paper.html", context)


@never_cache
@require_GET
def record(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Who did what when, newest first; `?verb=` and `?paper=` narrow it."""
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
        "rows": [(event, list(details_of(event, labels))) for event in page.object_list],
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
