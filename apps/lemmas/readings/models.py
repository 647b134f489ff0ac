"""Requests for readings by a model. `apps.lemmas.models` imports them, so that Django finds them."""

from typing import Any

from django.conf import settings
from django.db import models

from apps.runs.models import Run


class ReadingState(models.TextChoices):
    """The states of a request for readings."""

    QUEUED = "queued", "waiting"
    RUNNING = "running", "under way"
    DONE = "done", "done"
    FAILED = "failed", "failed"


class ModelReadings(models.Model):
    """The readings of one model for the formulas of a lemma version or proof (`subject`) that our check did not understand.

    `items` are `ReadItem`s (items.py), added as they come; `left` is the number of further formulas beyond the limit.
    Without an end, `touched_at` says when the process last did something.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="model_readings")
    subject = models.CharField(max_length=80)
    alias = models.CharField(max_length=80)
    state = models.CharField(max_length=10, choices=ReadingState, default=ReadingState.QUEUED)
    reason = models.CharField(max_length=500, blank=True)
    items: "models.JSONField[list[dict[str, Any]], list[dict[str, Any]]]" = models.JSONField(default=list)
    left = models.PositiveIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    asked_at = models.DateTimeField()
    touched_at = models.DateTimeField()

    class Meta:
        ordering = ["asked_at", "pk"]
        constraints = [models.UniqueConstraint(fields=["run", "subject", "alias"], name="model_readings_once")]

    @property
    def is_open(self) -> bool:
        return self.state in (ReadingState.QUEUED, ReadingState.RUNNING)
