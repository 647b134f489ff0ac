"""WebSockets: their URLs, and which pages may open one. Import this after Django's set-up."""

from typing import Any
from urllib.parse import urlparse

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.security.websocket import OriginValidator, WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.urls import path, re_path

from apps.runs.live.consumers import RunConsumer

_denied = WebsocketDenier.as_asgi()  # Answers 403 before the handshake.


class SameOrigin:
    """Admits pages of the socket's own scheme, host and port and of `CSRF_TRUSTED_ORIGINS`: Django's rule for forms.

    Comparing only the host, as `ALLOWED_HOSTS` does, would admit pages of every other server on the machine.
    """

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        chosen = self.application if _is_ours(scope) else _denied
        await chosen(scope, receive, send)


def _is_ours(scope: dict[str, Any]) -> bool:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    host, scheme = headers.get(b"host", ""), "https" if settings.HTTPS else "http"
    own = [f"{scheme}://{host}"] if validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS) else []
    trusted = [origin.replace("://*.", "://.") for origin in settings.CSRF_TRUSTED_ORIGINS]
    try:
        return bool(OriginValidator(None, [*own, *trusted]).valid_origin(urlparse(headers.get(b"origin", ""))))
    except ValueError:  # The origin is not a URL, or its port is invalid.
        return False


sockets = SameOrigin(
    URLRouter(
        [
            path("ws/runs/<uuid:run>/", AuthMiddlewareStack(RunConsumer.as_asgi())),
            re_path("", _denied),  # Without this, Channels raises an error for an unknown URL.
        ]
    )
)
