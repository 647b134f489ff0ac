"""Sockets: their addresses, and which pages may open one. Import it after Django is set up."""

from typing import Any
from urllib.parse import urlparse

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.security.websocket import OriginValidator, WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.urls import path, re_path

from apps.runs.consumers import RunConsumer

_denied = WebsocketDenier.as_asgi()  # Answers 403 before the handshake.


class SameOrigin:
    """Opens a socket for pages of its own scheme, host and port and of `CSRF_TRUSTED_ORIGINS`: Django's rule for forms.

    A host without a port, as `ALLOWED_HOSTS` has it, would admit the pages of every other server on the machine.
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
    except ValueError:  # No address, or no port.
        return False


sockets = SameOrigin(
    URLRouter(
        [
            path("ws/runs/<uuid:run>/", AuthMiddlewareStack(RunConsumer.as_asgi())),
            re_path("", _denied),  # Channels itself raises an error for an address that no socket has.
        ]
    )
)
