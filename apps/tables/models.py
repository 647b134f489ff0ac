"""Uploaded tables between preview and import, remembered meanings of columns, imports, and points from tables."""

import uuid
from typing import Any

from django.db import models
from django.db.models import F, Q

from apps.accounts.models import User
from apps.contests.models import TITLE_LENGTH, Contest, ContestProblem, Paper
from apps.tables.reading import MARKER_LENGTH

FILENAME_LENGTH = 200
SHEET_LENGTH = 100
ENCODING_LENGTH = 20
POINTS: dict[str, Any] = {"max_digits": 6, "decimal_places": 2}


class TableFile(models.Model):
    """An uploaded table between preview and import. Deleted on import, replacement or expiry.

    `contest` is None for a table from which a new contest with `title` is made. `columns`: the chosen meanings; `choices`: what
    `apps.tables.choices` describes, and the `origin` of the meanings. `encoding`: empty until it is chosen.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    contest = models.ForeignKey(Contest, null=True, on_delete=models.CASCADE, related_name="+")
    title = models.CharField(max_length=TITLE_LENGTH, blank=True)
    filename = models.CharField(max_length=FILENAME_LENGTH)
    data = models.BinaryField()
    sheet = models.CharField(max_length=SHEET_LENGTH, blank=True)
    encoding = models.CharField(max_length=ENCODING_LENGTH, blank=True)
    columns: "models.JSONField[list[list[str]], list[list[str]]]" = models.JSONField(default=list)
    choices: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]


class TableMeaning(models.Model):
    """The meanings that a person last chose for columns under this header."""

    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    header = models.CharField(max_length=64, help_text="sha-256 of the header, in hex.")
    columns: "models.JSONField[list[list[str]], list[list[str]]]" = models.JSONField(default=list)
    used_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "header"], name="table_meaning_once")]


class TableImport(models.Model):
    """The record of one import. `counts`: how many rows of each kind were new; `left_out`: [line, reason, cells …].

    `left_out` has names, so that it is emptied when it is older than a day. `header`: the names of the columns.
    `accounts`: those that it created. `public_id` is that of the deleted upload, whose address leads here.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="table_imports")
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    filename = models.CharField(max_length=FILENAME_LENGTH)
    counts: "models.JSONField[dict[str, int], dict[str, int]]" = models.JSONField(default=dict)
    header: "models.JSONField[list[str], list[str]]" = models.JSONField(default=list)
    left_out: "models.JSONField[list[list[Any]], list[list[Any]]]" = models.JSONField(default=list)
    left_out_count = models.PositiveIntegerField(default=0)
    accounts = models.ManyToManyField(User, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-pk"]


class TablePoints(models.Model):
    """Points that a person gave elsewhere, as a table has them. They are no `Mark`: no marker of this contest sealed them.

    They lead to no result, and only the person who imported them reads them. Where a text came with them, the agreement of
    markers is also measured against them (`ForeignJudgement`).
    """

    paper = models.ForeignKey(Paper, on_delete=models.CASCADE, related_name="+")
    problem = models.ForeignKey(ContestProblem, on_delete=models.CASCADE, related_name="+")
    marker = models.CharField(max_length=MARKER_LENGTH, blank=True)
    points = models.DecimalField(**POINTS)
    out_of = models.DecimalField(**POINTS)
    remark = models.TextField(blank=True)
    source = models.ForeignKey(TableImport, null=True, on_delete=models.SET_NULL, related_name="points")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["paper", "problem", "marker"], name="table_points_once"),
            models.CheckConstraint(
                condition=Q(points__gte=0) & Q(points__lte=F("out_of")) & Q(out_of__gt=0), name="table_points_on_their_scale"
            ),
        ]
