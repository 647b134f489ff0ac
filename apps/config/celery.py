"""The Celery application: queues `runs` (orchestrator) and `inference.<alias>` (inference workers). Settings: settings.py."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
# A worker would begin with Django's system checks, half a second of them; whoever starts the stack has made them (`check`).
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss", "redis+socket"), "apps.config.broker:Transport"))
app = Celery("lemmascope")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["apps.runs", "apps.explorations", "apps.marks", "apps.learning"])
