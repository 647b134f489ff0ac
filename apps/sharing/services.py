"""Writes of links. Runs passed `access.run_share_for`."""

import secrets
from datetime import date, datetime, time, timedelta

from django.core.exceptions import ValidationError
from django.db.models import F
from django.utils import timezone

from apps.accounts.models import User
from apps.runs.models import Run
from apps.sharing.access import sharing_refusal, token_digest
from apps.sharing.models import SharedLink

DAYS, DAYS_AT_MOST, LINKS_AT_MOST = 14, 90, 50
_TOKEN_BYTES = 32


def link_make(*, user: User, run: Run, ends_on: date, name: str = "", shown_by: str = "") -> tuple[SharedLink, str]:
    """Make a link that works until the end of a day. Returns it with its token, which is not stored.

    Raises `ValidationError` for a run that may not be shared, an unusable day, or too many links.
    """
    if refusal := sharing_refusal(run):
        raise ValidationError(refusal)
    today = timezone.localdate()
    if not today < ends_on <= today + timedelta(days=DAYS_AT_MOST):
        raise ValidationError(f"Choose a last day from tomorrow to {DAYS_AT_MOST} days from today.")
    if run.shared_links.filter(revoked_at=None, ends_at__gt=timezone.now()).count() >= LINKS_AT_MOST:
        raise ValidationError(f"This run already has {LINKS_AT_MOST} links that work. Revoke one first.")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    ends_at = timezone.make_aware(datetime.combine(ends_on + timedelta(days=1), time.min))
    link = SharedLink.objects.create(
        run=run, token_hash=token_digest(token), name=_line(name), shown_by=_line(shown_by), made_by=user, ends_at=ends_at
    )
    return link, token


def link_revoke(*, link: SharedLink) -> None:
    """Revoke a link at once. A link once revoked stays so."""
    SharedLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now())


def link_note_use(*, link: SharedLink) -> None:
    """Count one opening of a link's page."""
    SharedLink.objects.filter(pk=link.pk).update(uses=F("uses") + 1, last_used_at=timezone.now())


def _line(text: str) -> str:
    return " ".join(text.replace("\0", "").split())[:80]
