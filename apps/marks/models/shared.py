"""Items that a marker gave to several scripts at once."""

from django.db import models

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models.marking import MarkingCase


class SharedItems(models.Model):
    """One decision of a marker on a group of scripts. `items`: identities (`lineage`) of items of the scheme.

    It affects only marks of this marker. `undone_at`: when the marker took it back.
    """

    problem = models.ForeignKey(ContestProblem, on_delete=models.CASCADE, related_name="+")
    marker = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    items: "models.JSONField[list[str], list[str]]" = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["problem", "marker"], name="shared_of_marker")]


class SharedItemsScript(models.Model):
    """A script of the decision. `added`: the items that a draft got by it; None before the marker has opened the script."""

    shared = models.ForeignKey(SharedItems, on_delete=models.CASCADE, related_name="scripts")
    case = models.ForeignKey(MarkingCase, on_delete=models.CASCADE, related_name="+")
    added: "models.JSONField[list[str] | None, list[str] | None]" = models.JSONField(null=True, default=None)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shared", "case"], name="shared_script_once")]
