"""Coordination: lists of waiting cases, one page per case, rulings, precedents, and the ledger of a case."""

import uuid
from decimal import Decimal, InvalidOperation

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import run_reader_of, user_of
from apps.accounts.models import User
from apps.marks.coordination import coordination as service
from apps.marks.coordination.comparing import fresh_dismiss
from apps.marks.coordination.page import coordination_rows, ledger_of, page_of
from apps.marks.coordination.precedents import PrecedentRefused, Ruling, precedent_write
from apps.marks.models import Coordination
from apps.marks.sealing.seeing import case_get_for, case_led_for, coordination_get_for, marks_shown
from apps.marks.views.blind import after_own_marks
from apps.reasoning.marking.sheets.positions import PositionWrong
from apps.ui.plain_text import without_nul
from apps.ui.refusals import refusals_shown
from apps.ui.sent import whole_number


@never_cache
@require_GET
def coordination_list(request: HttpRequest) -> HttpResponse:
    """Coordinations that wait for this user, those they may rule on, and scripts that wait for a fresh mark."""
    user = run_reader_of(request)
    return render(request, "marks/coordination_list.html", coordination_rows(user))


@never_cache
@after_own_marks
@require_GET
def coordination(request: HttpRequest, coordination_id: uuid.UUID) -> HttpResponse:
    """One coordination: claims, then differences, discussion and proposal."""
    return _page(request, coordination_get_for(user_of(request), coordination_id))


@after_own_marks
@require_POST
def coordination_do(request: HttpRequest, coordination_id: uuid.UUID, verb: str) -> HttpResponse:
    """`claim`, `remark`, `propose`, `sign` or `rule`."""
    user = user_of(request)
    found = coordination_get_for(user, coordination_id)
    try:
        _do(request, found, user, verb)
    except (service.CoordinationRefused, PositionWrong) as refused:
        found.refresh_from_db()
        return _page(request, found, str(refused), 422)
    except service.CoordinationChanged as changed:
        found.refresh_from_db()
        return _page(request, found, str(changed), 409)
    return redirect("marks:coordination", coordination_id=coordination_id)


@require_POST
def fresh_skip(request: HttpRequest, case_id: uuid.UUID) -> HttpResponse:
    """Settle a case without the requested fresh mark."""
    user = user_of(request)
    case = case_led_for(user, case_id)
    if not fresh_dismiss(case=case, by=user):
        messages.error(request, "A marker is already making the fresh mark, so it cannot be skipped.")
    return redirect("marks:coordination_list")


@never_cache
@after_own_marks
@require_GET
def case_ledger(request: HttpRequest, case_id: uuid.UUID) -> HttpResponse:
    """Who marked, saw and settled what of a script, and when; for captain and organisers, whose view is recorded too."""
    user = user_of(request)
    case = case_get_for(user, case_id)
    marks_shown(case, user, "ledger")
    return render(request, "marks/ledger.html", {"contest": case.problem.contest, "case": case, **ledger_of(case)})


@after_own_marks
@require_POST
def precedent_add(request: HttpRequest, case_id: uuid.UUID) -> HttpResponse:
    """Save a ruling on a settled script for later ones."""
    user = user_of(request)
    case = case_get_for(user, case_id)
    settled = case.coordinations.exclude(outcome="").order_by("-closed_at").first()
    with refusals_shown(request, PrecedentRefused):
        precedent_write(case=case, by=user, ruling=_ruling(request), coordination=settled)
        messages.success(request, "Saved. Markers of later scripts see it after sealing their own mark.")
    return redirect("marks:case_ledger", case_id=case_id)


def _do(request: HttpRequest, found: Coordination, user: User, verb: str) -> None:
    """Carry out a verb; `Http404` for an unknown one."""
    post = without_nul(request.POST)
    if verb == "claim":
        service.claim_make(coordination=found, by=user, line=post.get("claim", ""))
    elif verb == "remark":
        service.remark_add(coordination=found, by=user, words=post.get("words", ""))
    elif verb == "propose":
        service.proposal_make(coordination=found, by=user, proposal=_proposal(request), based_on=_based_on(request))
    elif verb == "sign":
        service.proposal_sign(coordination=found, by=user, based_on=_based_on(request))
    elif verb == "rule":
        service.ruling_make(coordination=found, by=user, proposal=_proposal(request), based_on=_based_on(request))
    else:
        raise Http404("There is no such step.")


def _page(request: HttpRequest, found: Coordination, refusal: str = "", status: int = 200) -> HttpResponse:
    user = user_of(request)
    service.colleagues_show(found, user)
    context = {"page": page_of(found, user), "coordination": found, "case": found.case, "refusal": refusal}
    context["contest"] = found.case.problem.contest
    if refusal:  # Keep the input in the fields.
        post = without_nul(request.POST)
        typed = {name: post.get(name, "") for name in ("claim", "reason", "words", "chooses")}
        context["typed"] = {**typed, "keep": post.getlist("keep")}
    return render(request, "marks/coordination.html", context, status=status)


def _proposal(request: HttpRequest) -> service.Proposal:
    post = without_nul(request.POST)
    keep = frozenset(post.getlist("keep")) if post.get("chooses") else None
    return service.Proposal(line=post.get("claim", ""), reason=post.get("reason", ""), keep=keep)


def _based_on(request: HttpRequest) -> int:
    found = whole_number(request.POST.get("based_on", ""), 9)
    if found is None:
        raise service.CoordinationChanged("Nothing was saved: the form has no version. Reload the page.")
    return found


def _ruling(request: HttpRequest) -> Ruling:
    post = without_nul(request.POST)
    try:
        points = Decimal(post.get("points", "").replace(",", "."))
        lineage = uuid.UUID(str(post["lineage"])) if post.get("lineage") else None
    except (InvalidOperation, ValueError) as error:
        raise PrecedentRefused("Enter the points as a number between 0 and 1000.") from error
    if not points.is_finite() or not 0 <= points <= 1000 or points != round(points, 2):
        raise PrecedentRefused("Enter the points as a number between 0 and 1000.")
    return Ruling(words=post.get("words", ""), points=points, lineage=lineage, fallacy=post.get("fallacy", ""))
