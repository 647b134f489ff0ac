"""Tags on runs and on parts of runs, and saved views of the list of runs."""

from django.conf import settings
from django.db import models

from apps.runs.models import Run


class Tag(models.Model):
    """A word that a person puts on a run or on a part of it. Everyone who may see the run sees it.

    `kind` and `target` name the part as the events of the run do: a lemma's id, a call's key; empty for the run itself. Access
    is always that of the run.
    """

    class Kind(models.TextChoices):
        RUN = "run", "run"
        LEMMA = "lemma", "lemma"
        STEP = "step", "proof step"
        CALL = "call", "call"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="tags")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.RUN)
    target = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=40, db_index=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["run", "kind", "target", "name"], name="tag_once")]

    def __str__(self) -> str:
        return self.name


class SavedView(models.Model):
    """The filters and the order of a person's list of runs under a name. `query` is the query string of the page."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="run_views")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=1000, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="saved_view_once")]

    def __str__(self) -> str:
        return self.name
