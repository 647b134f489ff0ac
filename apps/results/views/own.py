"""Results for their author: a contest, and a text with its released results."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.results import overview
from apps.results.access import paper_own_for, version_own_for
from apps.results.appeals import appeal_window, appeal_words, appeals_of
from apps.results.printing import result_document
from apps.results.ranking import ranking_of
from apps.results.revisions import earlier_feedback
from apps.results.shown import parts_of, result_of
from apps.submissions.selectors import version_list
from apps.ui.typeset.press import PdfFailed, pdf_answer


@never_cache
@require_GET
def own(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """A contest with the released results of the user's own work."""
    contest, paper = paper_own_for(user_of(request), contest_id)
    context = {
        "contest": contest,
        "overview": overview.overview_of(contest, paper),
        "has_ranking": ranking_of(contest) is not None,
    }
    return render(request, "results/own.html", context)


@never_cache
@require_GET
def result(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """A version with its released results, which stay after a newer version is handed in."""
    version = version_own_for(user_of(request), version_id)
    parts = parts_of([version]).get(version.pk, {})
    versions = list(version_list(version.submission))
    context = {
        "contest": version.submission.paper.contest,
        "problem": version.submission.problem,
        "version": version,
        "result": result_of(version, parts),
        "versions": versions,
        "is_newest": versions[0].pk == version.pk,
        "earlier": None if parts else earlier_feedback(version),
        "window": appeal_window(parts),
        "appeals": [(appeal, appeal_words(appeal)) for appeal in appeals_of(version)],
    }
    return render(request, "results/result.html", context)


@never_cache
@require_GET
def result_pdf(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """The released results as PDF; redirects to the page with the reason if none can be made."""
    version = version_own_for(user_of(request), version_id)
    result = result_of(version, parts_of([version]).get(version.pk, {}))
    if result.is_empty:
        raise Http404("No results are released for this version.")
    try:
        name = f"problem-{version.submission.problem.label}-version-{version.number}.pdf"
        return pdf_answer(result_document(result), name)
    except PdfFailed as error:
        messages.error(request, str(error))
        return redirect("results:result", version_id=version_id)
