"""The page on which a captain changes a used scheme: differences and choices, their effects, the reason."""

import uuid
from collections.abc import Mapping

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.access import user_of
from apps.marks.access import problem_captained_for
from apps.marks.blindness import own_marks_require
from apps.marks.models import MarkingSetup
from apps.marks.office import scheme_change as changing
from apps.marks.setups import setup_of
from apps.marks.views.blind import after_own_marks
from apps.reasoning.marking.schemes.rescoring import Choice, Fate
from apps.schemes.services import SchemeChanged, SchemeNotUsable, VersionNotOpen
from apps.ui.sent import whole_number

ROWS_SHOWN = 200
WORDS = {
    Choice.RECOMPUTE: "Recompute the points",
    Choice.REMARK: "Have the scripts marked again",
    Choice.LEAVE: "Leave the scripts as they are",
}


@never_cache
@after_own_marks
@require_http_methods(["GET", "HEAD", "POST"])
def scheme_change(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """`?preview=1` with a choice for every difference shows the effects; a POST applies exactly those."""
    user = user_of(request)
    problem = problem_captained_for(user, problem_id)
    own_marks_require(user, problem)
    setup = setup_of(problem)
    target = changing.target_of(setup) if setup else None
    if setup is None or target is None:
        context = {"problem": problem, "contest": problem.contest, "setup": setup}
        return render(request, "marks/scheme_change_none.html", context)
    choices = _choices(request.POST if request.method == "POST" else request.GET)
    refusal = ""
    if request.method == "POST":
        try:
            done = changing.change_apply(
                problem=problem,
                choices=choices,
                reason=request.POST.get("reason", ""),
                by=user,
                based_on=_number(request),
                token=request.POST.get("token", ""),
            )
        except (changing.ChangeRefused, SchemeChanged, SchemeNotUsable, VersionNotOpen) as refused:
            refusal = str(refused)
        else:
            messages.success(request, _summary(done))
            return redirect("office:scheme_change", problem_id=problem_id)
    return _page(request, setup, changing.impact(problem, target, choices), refusal)


def _page(request: HttpRequest, setup: MarkingSetup, found: changing.Impact, refusal: str) -> HttpResponse:
    rows = [
        {
            "one": one,
            "touched": found.touched(one.key),
            "choices": [(choice.value, WORDS[choice], found.choices[one.key] is choice) for choice in one.choices],
        }
        for one in found.differences
    ]
    is_draft = found.target.status == "draft"
    most = max((max(before, after) for _, before, after in found.histogram), default=1)
    context = {
        "problem": found.problem,
        "contest": found.problem.contest,
        "scheme": setup.scheme,
        "found": found,
        "rows": rows,
        "is_draft": is_draft,
        "is_nothing": not is_draft and not found.count(Fate.RECOMPUTED) and not any(row["touched"] for row in rows),
        "is_preview": request.method == "POST" or "preview" in request.GET,
        "counts": {fate.value: found.count(fate) for fate in Fate},
        "changed": found.changed[:ROWS_SHOWN],
        "remarked": found.remarked[:ROWS_SHOWN],
        "most": most,
        "refusal": refusal,
        "reason": request.POST.get("reason", ""),
    }
    return render(request, "marks/scheme_change.html", context, status=422 if refusal else 200)


def _choices(data: Mapping[str, str]) -> dict[str, Choice]:
    """The choices by key of the difference; unknown values are ignored."""
    known = {choice.value for choice in Choice}
    pairs = ((name.removeprefix("choice-"), data.get(name, "")) for name in data if name.startswith("choice-"))
    return {key: Choice(value) for key, value in pairs if value in known}


def _number(request: HttpRequest) -> int:
    found = whole_number(request.POST.get("based_on", ""), 9)
    return -1 if found is None else found


def _summary(found: changing.Impact) -> str:
    parts = [f"Version {found.target.number} is active."]
    if count := found.count(Fate.RECOMPUTED):
        parts.append(f"{count} grade{'' if count == 1 else 's'} recomputed, {len(found.changed)} with changed points.")
    if found.remarked:
        parts.append(f"Sent back to the markers: {len(found.remarked)}.")
    if found.pending:
        parts.append("Students see the new points with the next release.")
    return " ".join(parts)
