"""The view of grader cards and of the gradings behind a card."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from apps.accounts.access import run_reader_of
from apps.agreement.cards import GRADINGS_AT_MOST, cards_for
from apps.experiments.ledger import CARDS, results_shown
from apps.reasoning.agreement.consistency import Consistency
from apps.reasoning.agreement.report import FEW
from apps.reasoning.domain.values import Unscored

GRADINGS_SHOWN = 200


@never_cache
@require_GET
def agreement_cards(request: HttpRequest) -> HttpResponse:
    """Show all cards; with `?card=` list the gradings of one, recording disclosures of contest scripts in the ledger."""
    user = run_reader_of(request)
    cards = cards_for(user)
    if "card" in request.GET:
        card = next((one for one in cards if one.key == request.GET["card"]), None)
        if card is None:
            raise Http404("No such card.")
        kept = [one for one in card.gradings if "unscored" not in request.GET or isinstance(one.points, Unscored)]
        rows = [(one, one.points.reason if isinstance(one.points, Unscored) else "") for one in kept[:GRADINGS_SHOWN]]
        results_shown(user, [one.case for one in kept[:GRADINGS_SHOWN] if one.case is not None], CARDS, with_people=False)
        context = {"card": card, "rows": rows, "hidden": len(kept) - len(rows), "count": len(kept)}
        return render(request, "agreement/card.html", context)
    context = {"cards": [(card, *_with_same(card.consistency)) for card in cards], "most": GRADINGS_AT_MOST, "few": FEW}
    return render(request, "agreement/cards.html", context)


def _with_same(found: Consistency | Unscored) -> tuple[Consistency | None, int]:
    """The consistency and the number of scripts with the same points in all runs; None without repeats."""
    return (None, 0) if isinstance(found, Unscored) else (found, round(found.same * found.papers))
