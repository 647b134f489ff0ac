"""Settings, URL and ASGI configuration, the Celery application, and the command `up`."""

from apps.config.celery import app as celery_app

__all__ = ["celery_app"]
