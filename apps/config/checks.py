"""What `manage.py check --deploy` says of our own settings."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register


@register(Tags.security, deploy=True)
def proxies_are_counted(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Behind an uncounted proxy all people share its address, so the failed sign-ins of one lock out the others."""
    if not settings.HTTPS or settings.TRUSTED_PROXIES > 0:
        return []
    return [
        Warning(
            "HTTPS is on, so a proxy stands before the web processes, but TRUSTED_PROXIES is 0.",
            hint="Set TRUSTED_PROXIES to the number of your proxies: failed sign-ins are limited by the address that they see.",
            id="lemmascope.W001",
        )
    ]
