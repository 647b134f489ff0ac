"""Who may see how the installation works: staff, and a program that has the token of the setting `METRICS_TOKEN`."""

import secrets

from django.conf import settings
from django.http import Http404, HttpRequest

from apps.accounts.models import User


def is_staff(request: HttpRequest) -> bool:
    """A signed-in, active member of staff asks."""
    return isinstance(request.user, User) and request.user.is_active and request.user.is_staff


def staff_required(request: HttpRequest) -> None:
    """Raises `Http404` for everybody else: the pages do not exist for them."""
    if not is_staff(request):
        raise Http404


def has_metrics_token(request: HttpRequest) -> bool:
    """The request carries the bearer token. Without a token in the settings none is right."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    expected = settings.METRICS_TOKEN
    return bool(expected) and kind.lower() == "bearer" and secrets.compare_digest(token.strip().encode(), expected.encode())
