"""What a student says to a remark: show more of it, disagree, claim that it is settled."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from apps.accounts.access import user_of
from apps.practice import remarks
from apps.practice.access import attempt_own_for, remark_own_for
from apps.practice.helping.formulas import CheckBusy, GraderFailed, settlements_checked
from apps.practice.helping.rules import HelpRefused
from apps.practice.models import Remark, RemarkOrigin
from apps.submissions.models import SubmissionVersion
from apps.ui.refusals import refusals_shown
from apps.ui.sent import uuid_of, whole_number


@require_POST
def reply(request: HttpRequest, remark_id: uuid.UUID, verb: str) -> HttpResponse:
    """Apply `more`, `disagree` or `settle`; back to the version that the student was reading."""
    user = user_of(request)
    remark = remark_own_for(user, remark_id)
    seen = uuid_of(request.POST.get("version", "")) or remark.version.public_id
    version = attempt_own_for(user, seen)
    with refusals_shown(request, HelpRefused):
        if verb == "more":
            remarks.remark_open(remark=remark, stage=whole_number(request.POST.get("stage", ""), 1) or 0)
        elif verb == "disagree":
            remarks.disagree(remark=remark, words=request.POST.get("words", "").replace("\0", "")[:500])
            messages.success(request, "A coach will read your reason.")
        elif verb == "settle":
            remarks.settle(remark=remark, version=version)
            _confirmed(request, remark, version)
        else:
            raise Http404("There is no such page.")
    return redirect("practice:attempt", version_id=version.public_id)


def _confirmed(request: HttpRequest, remark: Remark, version: SubmissionVersion) -> None:
    """Let the formula check confirm what it can; a coach confirms the rest."""
    try:
        checked = settlements_checked(version)
    except (CheckBusy, GraderFailed):
        checked = 0
    by_hand = (
        "Press “Check the formulas” to confirm it." if remark.origin == RemarkOrigin.FORMULA else "A coach will confirm it."
    )
    messages.success(request, "The formula check has looked at it." if checked else by_hand)
