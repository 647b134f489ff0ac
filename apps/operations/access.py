"""Access to operations pages: staff, and programs with the token of the setting `METRICS_TOKEN`."""

import secrets

from django.conf import settings
from django.http import Http404, HttpRequest

from apps.accounts.models import User


def is_staff(request: HttpRequest) -> bool:
    """Whether the user is a signed-in, active member of staff."""
    return isinstance(request.user, User) and request.user.is_active and request.user.is_staff


def staff_required(request: HttpRequest) -> None:
    """Raise `Http404` unless the user is staff: operations pages stay hidden."""
    if not is_staff(request):
        raise Http404


def has_metrics_token(request: HttpRequest) -> bool:
    """Whether the request carries the bearer token. Without `METRICS_TOKEN` every token is rejected."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    expected = settings.METRICS_TOKEN
    return bool(expected) and kind.lower() == "bearer" and secrets.compare_digest(token.strip().encode(), expected.encode())
