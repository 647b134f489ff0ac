"""Links by which people without an account read a run."""

import uuid
from datetime import date, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.runs.models import Run


class SharedLink(models.Model):
    """A link to one run. Only the SHA-256 of its token is stored; the token is shown once.

    `name` is for its maker. `shown_by` is the only name that readers see; empty by default. `uses` counts openings.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="shared_links")
    token_hash = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=80, blank=True)
    shown_by = models.CharField(max_length=80, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ends_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    uses = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name or f"link of {self.created_at:%Y-%m-%d}"

    @property
    def has_ended(self) -> bool:
        return self.ends_at <= timezone.now()

    @property
    def last_day(self) -> date:
        """The last day on which the link works, in the server's zone."""
        return timezone.localtime(self.ends_at - timedelta(seconds=1)).date()

    @property
    def is_revoked(self) -> bool:
        return self.revoked_at is not None
