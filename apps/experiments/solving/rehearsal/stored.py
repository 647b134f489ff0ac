"""The model of a rehearsal. Django finds it through `apps.experiments.models`."""

from typing import Any

from django.conf import settings
from django.db import models


class Rehearsal(models.Model):
    """A rehearsal of an experiment on solving by simulated agents. `source`: guess, runs (of `fitted_to`), or trials.

    `stated`: skills in TOML, which count over the others; `skills`: all that were used; `result`: the predicted table.
    `beat_at`: last sign of the process that plays it. `attempt` counts its processes.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    experiment = models.ForeignKey("experiments.Experiment", on_delete=models.CASCADE, related_name="rehearsals")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    source = models.CharField(max_length=10, default="guess")
    fitted_to = models.ForeignKey("experiments.Experiment", null=True, on_delete=models.SET_NULL, related_name="+")
    stated = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    trouble = models.TextField(blank=True)
    played = models.PositiveIntegerField(default=0)
    attempt = models.PositiveSmallIntegerField(default=0)
    skills: "models.JSONField[dict[str, Any] | None, dict[str, Any] | None]" = models.JSONField(null=True)
    result: "models.JSONField[dict[str, Any] | None, dict[str, Any] | None]" = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    beat_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["experiment"], condition=models.Q(state__in=("waiting", "running")), name="rehearsal_one_live"
            )
        ]
        indexes = [models.Index(fields=["state"], name="rehearsal_state")]

    @property
    def is_live(self) -> bool:
        return self.state in (self.State.WAITING, self.State.RUNNING)
