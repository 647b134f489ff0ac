"""Answers of proof assistants on formulas of a run. `apps.lemmas.models` imports them, so that Django finds them."""

from typing import Any

from django.conf import settings
from django.db import models

from apps.runs.models import Run


class KernelState(models.TextChoices):
    """The states of a request to a proof assistant."""

    QUEUED = "queued", "waiting"
    RUNNING = "running", "under way"
    DONE = "done", "done"


class KernelCheck(models.Model):
    """A formula of a lemma version or proof (`subject`), at `start` to `end` of its part `text_id`, and a tool's answer.

    The texts of a subject never change, so an answer stays valid. `result` is a `KernelResult` of `apps.mathcheck.kernel`.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="kernel_checks")
    subject = models.CharField(max_length=80)
    text_id = models.CharField(max_length=40)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    tool = models.CharField(max_length=10)
    state = models.CharField(max_length=10, choices=KernelState, default=KernelState.QUEUED)
    result: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    asked_at = models.DateTimeField()

    class Meta:
        ordering = ["asked_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "subject", "text_id", "start", "end", "tool"], name="kernel_check_once")
        ]

    @property
    def outcome(self) -> str:
        return str(self.result.get("outcome", ""))

    @property
    def version(self) -> str:
        return str(self.result.get("version", ""))

    @property
    def tool_name(self) -> str:
        return self.tool.title()
