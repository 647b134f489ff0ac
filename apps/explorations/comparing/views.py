"""The page of compared runs, the difference of two graphs as JSON, and the decisions of people on pairs of lemmas."""

from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.explorations.comparing.asking import CannotCompare, Side, drawn_of, pair_of, sides_of
from apps.explorations.comparing.costs import costs_of
from apps.explorations.comparing.curves import curve_figures, without_tokens
from apps.explorations.comparing.difference import difference_of
from apps.explorations.comparing.lemma_lists import Common, common_of
from apps.explorations.comparing.outcomes import outcomes_of
from apps.lemmas.pairs.models import LemmaPair
from apps.lemmas.pairs.services import pair_withdraw, pairs_decide
from apps.processes.one_moment import one_moment
from apps.runs.access import run_may_steer
from apps.ui.sent import whole_number

PAGE = 40
#: The lists of lemmas: name in the address and heading.
LISTS = {"disagree": "Verdicts disagree", "same": "In several runs", "single": "Only in one run"}


@require_GET
@one_moment()
def run_compare(request: HttpRequest) -> HttpResponse:
    """Two to four runs of one problem side by side; else a sentence that says what to do."""
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404
    ids = request.GET.getlist("run")
    try:
        sides = sides_of(user, ids)
    except CannotCompare as refusal:
        return render(request, "explorations/comparing/run_compare.html", {"refusal": str(refusal)}, status=refusal.status)
    figures = curve_figures(sides)
    context = {
        "sides": sides,
        "problem": sides[0].run.problem_version.problem,
        "versions": sorted({side.run.problem_version.number for side in sides}),
        "outcomes": outcomes_of(sides),
        "costs": costs_of(sides),
        "figures": figures,
        "without_tokens": without_tokens(figures, sides),
        "may_decide": all(run_may_steer(user, side.run) for side in sides),
        "query": _query(sides),
        "drawn": drawn_of(sides, request.GET.get("drawn", "")),
        **_lemmas(request, common_of(sides)),
    }
    return render(request, "explorations/comparing/run_compare.html", context)


def _lemmas(request: HttpRequest, common: Common) -> dict[str, object]:
    """One of the lists with its page; by default the first that is not empty."""
    counts = [(name, title, len(getattr(common, name))) for name, title in LISTS.items()]
    asked = request.GET.get("lemmas", "")
    chosen = asked if asked in LISTS else next((name for name, _, count in counts if count), "same")
    page = Paginator(getattr(common, chosen), PAGE).get_page(request.GET.get("page"))
    return {"common": common, "lists": counts, "chosen": chosen, "page": page}


@require_GET
@one_moment()
def run_difference(request: HttpRequest) -> HttpResponse:
    """The difference of two runs as one graph; the first `run` is the earlier one."""
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404
    ids = request.GET.getlist("run")
    try:
        before, after = pair_of(user, ids)
    except CannotCompare as refusal:
        return JsonResponse({"detail": str(refusal)}, status=refusal.status if ids else 400)
    return JsonResponse(difference_of(before, after))


@require_POST
def pairs_change(request: HttpRequest) -> HttpResponse:
    """Join or part the chosen lemmas, or withdraw a decision; then back to the page."""
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404
    try:
        sides = sides_of(user, request.POST.getlist("run"))
        messages.success(request, _changed(request, user, sides))
    except (CannotCompare, PermissionDenied) as refusal:
        messages.error(request, str(refusal))
    except ValidationError as error:
        messages.error(request, error.messages[0])
    query = urlencode([("run", one) for one in request.POST.getlist("run")] + [("lemmas", request.POST.get("lemmas", ""))])
    return HttpResponseRedirect(f"{reverse('explorations:run_compare')}?{query}#lemmas")


def _changed(request: HttpRequest, user: User, sides: list[Side]) -> str:
    """Make the change of the form and return what was done. Raises `ValidationError` and `PermissionDenied`."""
    runs = {str(side.run.public_id): side.run for side in sides}
    if (number := whole_number(request.POST.get("withdraw", ""))) is not None:
        pair = LemmaPair.objects.filter(first_run__in=runs.values(), second_run__in=runs.values(), pk=number).first()
        if pair is None:
            raise ValidationError("The decision does not exist any more. Load the page again to see which ones count.")
        pair_withdraw(user=user, pair=pair)
        return "Decision withdrawn. The computed comparison counts again."
    said = request.POST.get("say", "")
    if said not in ("same", "differ"):
        raise ValidationError("Choose lemmas, then press “Say the same” or “Differ”.")
    chosen = [one.partition("/") for one in request.POST.getlist("lemma")]
    if any(run not in runs for run, _, _ in chosen):
        raise ValidationError("One of the lemmas is of a run that is not compared here. Load the page again.")
    number = pairs_decide(user=user, lemmas=[(runs[run], name) for run, _, name in chosen], is_same=said == "same")
    words = "say the same" if said == "same" else "differ"
    return f"Recorded: the chosen lemmas {words} ({number} pair{'' if number == 1 else 's'})."


def _query(sides: list[Side]) -> str:
    return urlencode([("run", str(side.run.public_id)) for side in sides])
