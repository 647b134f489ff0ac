"""Problem sets: each version is a frozen list of problem versions under names, with a digest."""

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

from apps.problems.models import ProblemVersion

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

TITLE_LENGTH, NAME_LENGTH, SPLIT_LENGTH, NOTE_LENGTH = 120, 150, 40, 200


class ProblemSet(models.Model):
    """A named set. Its content is in its versions; experiments refer to one of these."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=TITLE_LENGTH, unique=True)
    title = models.CharField(max_length=TITLE_LENGTH, unique=True)
    credit = models.CharField(max_length=200, blank=True)
    licence = models.CharField(max_length=80, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    if TYPE_CHECKING:
        versions: RelatedManager["ProblemSetVersion"]

    class Meta:
        ordering = ["title", "pk"]

    def __str__(self) -> str:
        return self.title


class ProblemSetVersion(models.Model):
    """An immutable content. `digest`: sha-256 in hex over names, splits, statements and answers, in order.

    `left_out`: rows of the imported file that are not in it, as triples of place, id and reason.
    """

    problem_set = models.ForeignKey(ProblemSet, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    note = models.CharField(max_length=NOTE_LENGTH, blank=True)
    left_out: "models.JSONField[list[list[str]], list[list[str]]]" = models.JSONField(default=list)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    if TYPE_CHECKING:
        items: RelatedManager["ProblemSetItem"]

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["problem_set", "number"], name="problem_set_version_number")]

    def __str__(self) -> str:
        return f"{self.problem_set.slug}@{self.number}"


class ProblemSetItem(models.Model):
    """A problem of a version under its name in the set. `split`: such as train or test, or empty."""

    version = models.ForeignKey(ProblemSetVersion, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=NAME_LENGTH)
    problem = models.ForeignKey(ProblemVersion, on_delete=models.PROTECT, related_name="+")
    split = models.CharField(max_length=SPLIT_LENGTH, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "position"], name="problem_set_item_position"),
            models.UniqueConstraint(fields=["version", "name"], name="problem_set_item_name"),
        ]

    def __str__(self) -> str:
        return self.name
