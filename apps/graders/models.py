"""References of a problem, pieces prepared from them with their versions, and recorded calls of gradings without a page."""

import uuid
from typing import Any

from django.db import models

from apps.accounts.models import User
from apps.problems.models import Problem
from apps.runs.models import Run

ORIGIN_LENGTH = 200


def _person() -> "models.ForeignKey[User | None, User | None]":
    """A user as author of a change; empty for a run or a deleted account."""
    return models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")


def _run() -> "models.ForeignKey[Run | None, Run | None]":
    return models.ForeignKey(Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")


class ReferencePost(models.Model):
    """A solution or post added as a reference to those of the library. A removed one is kept for pieces made from it."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="posts")
    text = models.TextField()
    origin = models.CharField(max_length=ORIGIN_LENGTH, blank=True, help_text="Where it comes from: a file, a forum.")
    added_by = _person()
    added_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.origin or "pasted"


class PieceVersion(models.Model):
    """One immutable version of groups, an analysis or a rubric, made by a run or a person.

    `slot` identifies the piece, `basis` its input (`reasoning.graders.pieces.slots`); if the references now give another basis,
    the version is stale. `statement` is the digest of the problem's text. `shown_at` is updated when a user saves the same
    content again. Graders use versions that are approved and not withdrawn.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="pieces")
    statement = models.CharField(max_length=64, db_index=True)
    what = models.CharField(max_length=20)
    slot = models.CharField(max_length=100)
    basis = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    value: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField()
    run = _run()
    made_by = _person()
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    shown_at = models.DateTimeField()
    approved_by = _person()
    approved_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-shown_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["problem", "slot", "basis", "digest"], name="piece_version_once")]

    def __str__(self) -> str:
        return self.slot

    @property
    def is_approved(self) -> bool:
        """Whether graders use this version for its basis."""
        return self.approved_at is not None and self.withdrawn_at is None


class PreparedPiece(models.Model):
    """A cluster list, analysis or rubric. `piece` identifies its input; role, alias and revision identify its author.

    `problem` is the digest of the problem's statement, by which gradings find usable pieces.
    """

    piece = models.CharField(max_length=100)
    problem = models.CharField(max_length=64, db_index=True)
    role = models.CharField(max_length=40)
    alias = models.CharField(max_length=80)
    revision = models.CharField(max_length=200, blank=True)
    value: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["made_at", "pk"]
        constraints = [models.UniqueConstraint(fields=["piece", "role", "alias", "revision"], name="prepared_once")]


class GradingCall(models.Model):
    """One recorded call of a grading without a page (`journals.DatabaseJournal`), so that no user sees it early.

    `grading` identifies grader and input (`plans.run_name`); `record` is a `StepRecord`.
    """

    grading = models.CharField(max_length=32)
    key = models.CharField(max_length=180)
    record: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["grading", "key"], name="grading_call_once")]
