"""Reference posts of a problem, versions of prepared pieces, scheme proposals of models, and texts of benchmark sets."""

import uuid
from typing import Any

from django.db import models

from apps.accounts.models import User
from apps.grading.set_models import GradedScript
from apps.problems.models import Problem
from apps.runs.models import Run
from apps.schemes.models import MarkingScheme

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

    `slot` identifies the piece, `basis` its input (`apps.reasoning.graders.slots`); if the references now give another basis,
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


class SchemeProposal(models.Model):
    """A scheme written by a run and approved by a person as a draft of the problem. `text`: the approved text."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="proposal")
    scheme = models.ForeignKey(MarkingScheme, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField()
    approved_by = _person()
    approved_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.run)


class SchemeTryout(models.Model):
    """A text graded with a proposed scheme before approval. `digest`: of the scheme used."""

    writer = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="tryouts")
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="+")
    label = models.CharField(max_length=200)
    script = models.ForeignKey(GradedScript, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.label


class BenchmarkText(models.Model):
    """A problem of a benchmark set, to be excluded from training collections."""

    collection = models.CharField(max_length=80)
    name = models.CharField(max_length=120)
    text = models.TextField()
    loaded_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["collection", "name"]
        constraints = [models.UniqueConstraint(fields=["collection", "name"], name="benchmark_text_once")]

    def __str__(self) -> str:
        return f"{self.collection}: {self.name}"
