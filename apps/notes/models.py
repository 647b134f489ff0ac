"""Notes, and the people that they mention."""

from django.conf import settings
from django.db import models

from apps.runs.models import Run

LONGEST_NOTE = 10_000


class Note(models.Model):
    """A text of a person about a run or a part of it. Everyone who may see the run reads it.

    `kind` and `target` name the part: a lemma's id, a call's key, for a step `proof/2#3` or `s0.7#1`; empty for the run.
    """

    class Kind(models.TextChoices):
        RUN = "run", "the run"
        LEMMA = "lemma", "lemma"
        STEP = "step", "step"
        CALL = "call", "call"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="notes")
    kind = models.CharField(max_length=10, choices=Kind)
    target = models.CharField(max_length=200, blank=True)
    text = models.TextField(help_text="Markdown with formulas.")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True)
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.by or 'deleted account'} on {self.kind} {self.target}".strip()

    @property
    def is_resolved(self) -> bool:
        return self.resolved_at is not None


class Mention(models.Model):
    """A person named in a note. Home lists it until the person has marked it as seen or the note is resolved."""

    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="mentions")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    seen_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["note", "person"], name="mention_once")]
