"""Papers and scripts for coaches. Pages show no times, and names only in contests that are not anonymous."""

import uuid
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.contests.access import coached_get_for, names_for, papers_may_read, reveal_may
from apps.contests.models import NUMBER_SIGNS
from apps.contests.selectors import problem_list
from apps.submissions import selectors
from apps.submissions.access import version_marked_for

PAGE = 100


@never_cache
@require_GET
def paper_list(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """List the papers with a text by number, in pages; `?number=` filters by the start of the number."""
    user = user_of(request)
    contest = coached_get_for(user, contest_id)
    if not papers_may_read(user, contest):
        raise Http404("You can read papers once marking begins.")
    names = names_for(user, contest)
    papers = selectors.papers_to_mark(contest)
    asked = request.GET.get("number", "").replace("\0", "").strip().upper()[:NUMBER_SIGNS]
    page = Paginator(papers.filter(number__startswith=asked) if asked else papers, PAGE).get_page(request.GET.get("page"))
    context = {
        "contest": contest,
        "page": page,
        "asked": asked,
        "query": urlencode({"number": asked}) if asked else "",
        "problems": problem_list(contest),
        "rows": [(row, names.get(row.paper.pk, "")) for row in selectors.paper_rows(contest, list(page.object_list))],
        "may_reveal": reveal_may(user, contest) and not names,
        "has_names": bool(names),
    }
    return render(request, "submissions/paper_list.html", context)


@never_cache
@require_GET
def script(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """Show a handed-in text in steps, or its source with `?as=source`."""
    user = user_of(request)
    version = version_marked_for(user, version_id)
    contest = version.submission.paper.contest
    context = {
        "version": version,
        "contest": contest,
        "paper": version.submission.paper,
        "problem": version.submission.problem,
        "steps": version.steps.all(),
        "as_source": request.GET.get("as") == "source",
        "name": names_for(user, contest).get(version.submission.paper_id, ""),
    }
    return render(request, "submissions/script.html", context)
