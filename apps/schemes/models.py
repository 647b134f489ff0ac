"""Marking schemes and versions. `body` of a version is its JSON form; items have rows so that marks can refer to them."""

import uuid
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from apps.accounts.models import User
from apps.problems.models import Problem
from apps.reasoning.marking.schemes.json_form import json_scheme
from apps.reasoning.marking.schemes.scheme import Kind, Scheme

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

TITLE_LENGTH = 120
REASON_LENGTH = 500


def _person() -> "models.ForeignKey[User | None, User | None]":
    """A user; empty for the command line and for a deleted account."""
    return models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")


class VersionStatus(models.TextChoices):
    """State of a version: draft, active (used for marking), or retired (kept for its marks)."""

    DRAFT = "draft", "Draft"
    ACTIVE = "active", "Active"
    RETIRED = "retired", "Retired"


class ItemKind(models.TextChoices):
    """Kinds of items, as in `apps.reasoning.marking`."""

    CHECKPOINT = Kind.CHECKPOINT.value, "Checkpoint"
    ZERO_CREDIT = Kind.ZERO_CREDIT.value, "Zero credit"
    DEDUCTION = Kind.DEDUCTION.value, "Deduction"
    CAP = Kind.CAP.value, "Cap"
    FEEDBACK = Kind.FEEDBACK.value, "Feedback"


class MarkingScheme(models.Model):
    """A scheme of a problem with its versions. `row_version` counts changes and detects concurrent ones."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="marking_schemes")
    title = models.CharField(max_length=TITLE_LENGTH)
    row_version = models.PositiveIntegerField(default=1)
    created_by = _person()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    if TYPE_CHECKING:
        versions: RelatedManager["SchemeVersion"]

    class Meta:
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return self.title


class SchemeVersion(models.Model):
    """One text of a scheme. Only an unused draft may change; `services` is the only writer.

    `meaning_hash` equals the parent's if the author declared the change as wording only, with a `reason`.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    scheme = models.ForeignKey(MarkingScheme, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="children")
    status = models.CharField(max_length=10, choices=VersionStatus, default=VersionStatus.DRAFT)
    body = models.JSONField()
    content_hash = models.CharField(max_length=64)
    meaning_hash = models.CharField(max_length=64)
    is_wording_only = models.BooleanField(default=False)
    reason = models.CharField(max_length=REASON_LENGTH, blank=True)
    created_by = _person()
    created_at = models.DateTimeField(auto_now_add=True)
    activated_by = _person()
    activated_at = models.DateTimeField(null=True, blank=True)
    retired_by = _person()
    retired_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True, help_text="When a mark was first made with it.")

    if TYPE_CHECKING:
        items: RelatedManager["SchemeItem"]

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["scheme", "number"], name="scheme_version_number"),
            models.UniqueConstraint(fields=["scheme"], condition=Q(status="active"), name="scheme_one_active"),
            models.UniqueConstraint(fields=["scheme"], condition=Q(status="draft"), name="scheme_one_draft"),
            models.CheckConstraint(condition=Q(used_at__isnull=True) | ~Q(status="draft"), name="scheme_drafts_are_not_used"),
        ]

    def __str__(self) -> str:
        return f"{self.scheme.title}, version {self.number}"

    @property
    def content(self) -> Scheme:
        """The scheme as a value of `apps.reasoning.marking`."""
        return json_scheme(self.body)


class SchemeItem(models.Model):
    """An item of a version. `lineage` identifies the item across versions."""

    version = models.ForeignKey(SchemeVersion, on_delete=models.CASCADE, related_name="items")
    lineage = models.UUIDField()
    position = models.PositiveSmallIntegerField()
    code = models.CharField(max_length=16)
    kind = models.CharField(max_length=12, choices=ItemKind)
    points = models.DecimalField(max_digits=6, decimal_places=2)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "lineage"], name="scheme_item_lineage"),
            models.UniqueConstraint(fields=["version", "position"], name="scheme_item_position"),
        ]

    def __str__(self) -> str:
        return self.code
