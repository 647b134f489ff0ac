"""Settings, URL and ASGI configuration, the Celery application, the command `up`, the home page, the HTTP API.

Not here: any rule; `wiring` only connects those of the apps.
"""

from apps.config.celery import app as celery_app

__all__ = ["celery_app"]
