"""Checks of our own settings in `manage.py check --deploy`."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register


@register(Tags.security, deploy=True)
def proxies_are_counted(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Warn of an uncounted proxy: everyone behind it shares its address, so failed sign-ins of one user lock out the others."""
    if not settings.HTTPS or settings.TRUSTED_PROXIES > 0:
        return []
    return [
        Warning(
            "HTTPS is on, so there is a proxy in front of the web processes, but TRUSTED_PROXIES is 0.",
            hint="Set TRUSTED_PROXIES to the number of your proxies: failed sign-ins are limited per client address.",
            id="lemmascope.W001",
        )
    ]
