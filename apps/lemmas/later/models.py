"""Checks made after an import. `apps.lemmas.models` imports them, so that Django finds them.

They are no projection of events: the journal of an imported run is what its file recorded, and stays so.
"""

from django.db import models

from apps.runs.models import Run


class LaterChecks(models.Model):
    """The checks that an imported run waits for. A row without `ended_at` is a job; any orchestrator may continue it.

    `begun_at`: when it was last begun. `reason`: why it could not be finished then, or "".
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="later_checks", primary_key=True)
    asked_at = models.DateTimeField(auto_now_add=True)
    begun_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["asked_at"]


class LaterCheck(models.Model):
    """The check of a lemma version, proof or candidate. `body` is a `FormulasChecked`, with all its fields."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+", db_index=False)
    subject = models.CharField(max_length=180)
    body = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["run", "subject"], name="later_check_once")]
