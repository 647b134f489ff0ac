"""The ASGI application: pages over HTTP, and the run socket behind origin check, session and login."""

import os

from channels.routing import ProtocolTypeRouter
from django import setup
from django.conf import settings

from apps.config.private import data_folder_close, umask_set

umask_set()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
setup(set_prefix=False)

from apps.config.errors import DiskFullMiddleware  # noqa: E402  (models need Django set up above)
from apps.config.sockets import sockets  # noqa: E402
from apps.processes import pulse  # noqa: E402
from apps.processes.request_threads import RequestHandler  # noqa: E402

data_folder_close(settings.DATA_DIR)
pulse.start("web")
application = ProtocolTypeRouter({"http": DiskFullMiddleware(RequestHandler()), "websocket": sockets})
