"""ASGI wiring: pages over HTTP, and the run socket behind origin check, session and login."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
http = get_asgi_application()

from apps.runs import pulse  # noqa: E402  (models need the application set up above)
from apps.runs.consumers import RunConsumer  # noqa: E402

pulse.start("web")
application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(
            AuthMiddlewareStack(URLRouter([path("ws/runs/<uuid:run>/", RunConsumer.as_asgi())]))
        ),
    }
)
