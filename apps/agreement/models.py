"""Contributions of people to the agreement page: files of points, and reasons why a grader and a person disagree."""

import uuid
from typing import Any

from django.db import models

from apps.accounts.models import User

FILENAME_LENGTH = 200
#: Longest names of graders and papers in a bucket's key.
NAME_LENGTH = 200
NOTE_LENGTH = 500


class AgreementFile(models.Model):
    """An uploaded file of points, visible to its owner only. The bytes never change.

    `asked`: the meaning of the columns (`agreement_forms.ColumnsForm`), empty until the owner has chosen it.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    filename = models.CharField(max_length=FILENAME_LENGTH)
    data = models.BinaryField()
    digest = models.CharField(max_length=64, help_text="sha-256 of the bytes, in hex.")
    asked: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "grading_agreementfile"
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.filename


class Bucket(models.TextChoices):
    """Why a grader's points differ from the person's (RefGrader, discussion of errors)."""

    GENEROUS = "generous", "Over-generous"
    SCHEME = "scheme", "Scheme ambiguous"
    MISSED = "missed", "Missed error"
    COMPREHENSION = "comprehension", "Misread the proof"


class DisagreementBucket(models.Model):
    """One person's reason for one disagreement. Each person has one reason per pair, independent of those of others.

    `source` names the origin of the pair (`agreement_sources`), `grader` and `paper` the pair within it.
    """

    source = models.CharField(max_length=80)
    grader = models.CharField(max_length=NAME_LENGTH)
    paper = models.CharField(max_length=NAME_LENGTH)
    bucket = models.CharField(max_length=16, choices=Bucket)
    note = models.CharField(max_length=NOTE_LENGTH, blank=True)
    by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "grading_disagreementbucket"
        ordering = ["at", "pk"]
        constraints = [models.UniqueConstraint(fields=["source", "grader", "paper", "by"], name="bucket_of_person_once")]
        indexes = [models.Index(fields=["source", "grader"], name="buckets_of_grader")]
