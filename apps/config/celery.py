"""The Celery application: queues `runs` (orchestrator) and `inference.<alias>` (inference workers). Settings: settings.py."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
# Skip Django's system checks in workers (half a second): the command that starts the stack has run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss", "redis+socket"), "apps.config.broker:Transport"))
app = Celery("lemmascope")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["apps.runs", "apps.lemmas", "apps.explorations", "apps.marks", "apps.learning"])
