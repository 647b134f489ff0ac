"""Earlier remarks in a newer version, for markers: kept, to be confirmed, gone."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.marks.sealing.seeing import marks_shown
from apps.results.access import carried_may_read
from apps.results.revisions import Revision, RevisionRefused, remark_decide, revision_of
from apps.submissions.access import version_marked_for
from apps.ui.refusals import refusals_shown

NO_REVISION = "There are no remarks on an earlier version."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def revision(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """The mapping of released remarks; a POST says whether one of them `holds` (`yes` or `no`)."""
    user = user_of(request)
    found = _revision(user, version_id)
    if request.method == "POST":
        with refusals_shown(request, RevisionRefused):
            holds = request.POST.get("holds") == "yes"
            remark_decide(version=found.new, key=request.POST.get("key", ""), holds=holds, by=user)
        return redirect("results:revision", version_id=version_id)
    marks_shown(found.grade.case, user, "revision")
    submission = found.new.submission
    context = {
        "contest": submission.paper.contest,
        "problem": submission.problem,
        "paper": submission.paper,
        "revision": found,
    }
    return render(request, "results/revision.html", context)


def _revision(user: User, version_id: uuid.UUID) -> Revision:
    version = version_marked_for(user, version_id)
    found = revision_of(version)
    if found is None or not carried_may_read(user, found.grade, version):
        raise Http404(NO_REVISION)
    return found
