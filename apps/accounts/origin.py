"""The client address of a request, as the outermost trusted proxy saw it."""

import ipaddress
import logging
from functools import cache

from django.conf import settings
from django.http import HttpRequest

logger = logging.getLogger(__name__)


def address_of(request: HttpRequest) -> str:
    """The address of the client.

    Each proxy appends its client's address to `X-Forwarded-For`. Only the last `TRUSTED_PROXIES` entries come from trusted
    proxies; a client can forge the earlier ones. If the entry is missing or invalid, use the address of the connection.
    """
    nearest = str(request.META.get("REMOTE_ADDR", ""))
    if settings.TRUSTED_PROXIES < 1:
        if "HTTP_X_FORWARDED_FOR" in request.META:
            _warn_once()
        return nearest
    entries = [entry.strip() for entry in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    if len(entries) < settings.TRUSTED_PROXIES:
        return nearest
    try:
        return str(ipaddress.ip_address(entries[-settings.TRUSTED_PROXIES]))
    except ValueError:
        return nearest


@cache
def _warn_once() -> None:
    logger.warning(
        "A sign-in carried X-Forwarded-For, but TRUSTED_PROXIES is 0. Behind a proxy, all visitors then share one limit of "
        "failed sign-ins: set TRUSTED_PROXIES to the number of your proxies. Without a proxy, leave it at 0 (docs/settings.md)."
    )
