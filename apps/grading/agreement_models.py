"""What people bring to the agreement page: files of points, and why a grader and a person disagree about a paper."""

import uuid
from typing import Any

from django.db import models

from apps.accounts.models import User

FILENAME_LENGTH = 200
#: Names of papers, graders and sources in a bucket's key.
NAME_LENGTH = 200
NOTE_LENGTH = 500


class AgreementFile(models.Model):
    """A file of points that somebody put up to see its agreement; its owner's alone.

    `asked`: which column is what (`agreement_forms.ColumnsForm`), empty until that was said. The bytes never change.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    filename = models.CharField(max_length=FILENAME_LENGTH)
    data = models.BinaryField()
    digest = models.CharField(max_length=64, help_text="sha-256 of the bytes, in hex.")
    asked: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.filename


class Bucket(models.TextChoices):
    """Why a grader's points are not the person's (RefGrader, discussion of errors)."""

    GENEROUS = "generous", "Over-generous"
    SCHEME = "scheme", "Scheme ambiguous"
    MISSED = "missed", "Missed error"
    COMPREHENSION = "comprehension", "Misread the proof"


class DisagreementBucket(models.Model):
    """What one person thinks is the reason of one disagreement. Everybody has one word on a pair; nobody overwrites another's.

    `source` names where the pair comes from (`agreement_sources`), `grader` and `paper` the pair in it.
    """

    source = models.CharField(max_length=80)
    grader = models.CharField(max_length=NAME_LENGTH)
    paper = models.CharField(max_length=NAME_LENGTH)
    bucket = models.CharField(max_length=16, choices=Bucket)
    note = models.CharField(max_length=NOTE_LENGTH, blank=True)
    by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["at", "pk"]
        constraints = [models.UniqueConstraint(fields=["source", "grader", "paper", "by"], name="bucket_of_person_once")]
        indexes = [models.Index(fields=["source", "grader"], name="buckets_of_grader")]
