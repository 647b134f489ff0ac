"""Mails that results are available. Sent once a batch can no longer be taken back; they contain no results.

The orchestrator sends due mails every 30 s; `manage.py send_notices` does it once.
"""

import logging
from datetime import datetime
from smtplib import SMTPException

from django.core.mail import send_mail
from django.db.models import F
from django.utils import timezone

from apps.results.models import FAULT_LENGTH, Notice

logger = logging.getLogger(__name__)
ATTEMPTS = 5
AT_ONCE = 200


def notices_send(now: datetime | None = None) -> int:
    """Send due mails; returns how many were sent. Failed ones are retried later, at most five times."""
    now = now or timezone.now()
    due = Notice.objects.filter(
        sent_at=None, attempts__lt=ATTEMPTS, batch__undone_at=None, batch__undo_until__lte=now, person__is_active=True
    ).exclude(person__email="")
    return sum(_send(notice) for notice in due.select_related("batch__contest", "person")[:AT_ONCE])


def _send(notice: Notice) -> bool:
    waiting = Notice.objects.filter(pk=notice.pk, sent_at=None)
    if not waiting.update(sent_at=timezone.now(), attempts=F("attempts") + 1):
        return False
    title = notice.batch.contest.title
    body = f"Results of “{title}” are available:\n\n{notice.address}\n"
    try:
        send_mail(f"Results of {title}", body, None, [notice.person.email])
    except (SMTPException, OSError) as error:
        logger.warning("could not send a notice: %s", error)
        Notice.objects.filter(pk=notice.pk).update(sent_at=None, fault=str(error)[:FAULT_LENGTH])
        return False
    return True
