"""Decisions of people on pairs of lemmas. `apps.lemmas.models` imports them, so that Django finds them."""

from django.conf import settings
from django.db import models

from apps.runs.models import Run


class LemmaPair(models.Model):
    """A person's decision that two lemmas say the same or differ. One row a pair; the newest decision replaces the earlier one.

    Lemmas are named by run and id, because their rows are projections and may be made again. `first` is the lower one by key of
    the run, then by id.
    """

    first_run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    first_lemma = models.CharField(max_length=80)
    second_run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    second_lemma = models.CharField(max_length=80)
    is_same = models.BooleanField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-decided_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["first_run", "first_lemma", "second_run", "second_lemma"], name="lemma_pair_once")
        ]
