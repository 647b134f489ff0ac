"""Marks by people on answers of an experiment. `apps.experiments.models` imports them, so that Django finds them."""

from django.conf import settings
from django.db import models

from apps.graded_sets.models import POINTS


class PersonMark(models.Model):
    """The mark of one person on one answer. `digest`: the text that was marked (`CellScore.digest`); equal texts share it.

    The score of the answer is the mean of its marks.
    """

    experiment = models.ForeignKey("experiments.Experiment", on_delete=models.CASCADE, related_name="person_marks")
    digest = models.CharField(max_length=64)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    points = models.DecimalField(**POINTS)
    comment = models.TextField(blank=True)
    marked_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["experiment", "digest", "by"], name="person_mark_once")]
