"""The URLs of the API, with all modules of operations imported."""

from django.urls import URLPattern, URLResolver

from apps.config.api import comparing, experimenting, forking, notes, streaming, writing
from apps.config.api.operations import api

#: Modules whose operations are added to `api` when they are imported.
PARTS = (writing, forking, streaming, notes, comparing, experimenting)
__all__ = ["api", "api_urls"]


def api_urls() -> tuple[list[URLResolver | URLPattern], str, str]:
    """The API's URLs. Its own authentication answers 401, so the site's redirect to the sign-in page is off."""
    patterns, app_name, namespace = api.urls
    for pattern in patterns:
        if isinstance(pattern, URLPattern) and pattern.callback is not None:
            pattern.callback.login_required = False  # type: ignore[attr-defined]
    return patterns, app_name, namespace
