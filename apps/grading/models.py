"""Pieces prepared from the references of a problem, and recorded calls of gradings without a page; each is made once."""

from typing import Any

from django.db import models

from apps.grading.agreement_models import AgreementFile, Bucket, DisagreementBucket
from apps.grading.experiment_models import CellState, Experiment, ExperimentCell, ExperimentState
from apps.grading.preparing_models import BenchmarkText, PieceVersion, ReferencePost, SchemeProposal, SchemeTryout
from apps.grading.set_models import GradedScript, GradedSet, HumanScore

__all__ = [
    "AgreementFile",
    "BenchmarkText",
    "Bucket",
    "CellState",
    "DisagreementBucket",
    "Experiment",
    "ExperimentCell",
    "ExperimentState",
    "GradedScript",
    "GradedSet",
    "GradingCall",
    "HumanScore",
    "PieceVersion",
    "PreparedPiece",
    "ReferencePost",
    "SchemeProposal",
    "SchemeTryout",
]


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
