"""Staff page of formulas that KaTeX cannot typeset; the browser tests all of them."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.explorations.formula_check import written_formulas


@require_GET
def formula_list(request: HttpRequest) -> HttpResponse:
    """The page; its script fetches the formulas and lists those that fail."""
    _staff(request)
    return render(request, "explorations/formula_list.html")


@require_GET
def formula_data(request: HttpRequest) -> JsonResponse:
    """All formulas with their pages."""
    return JsonResponse({"formulas": written_formulas(_staff(request))})


def _staff(request: HttpRequest) -> User:
    user = user_of(request)
    if not user.is_staff:
        raise Http404("There is no such page.")
    return user
