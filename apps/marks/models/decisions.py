"""Decisions: coordination, precedents and final grades; releases by part; appeals."""

import uuid

from django.db import models
from django.db.models import Q

from apps.accounts.models import User
from apps.contests.models import Contest
from apps.marks.models.marking import Mark, MarkingCase
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, WORDS_LENGTH
from apps.schemes.models import SchemeVersion


class CoordinationOutcome(models.TextChoices):
    """How different marks were settled, and on which level."""

    AGREED = "agreed", "Agreed by both"
    CAPTAIN = "captain", "Ruled by the captain"
    JURY = "jury", "Ruled by the jury"
    BLANK = "blank", "Blank, settled with no points"


class Coordination(models.Model):
    """Different marks of a case, settled by people, or the decision on a blank script, without marks. Nothing is averaged.

    `claims`: the current claim line by id of the mark. `outcome` is empty while open; `sheet` is the proposal or the outcome.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    case = models.ForeignKey(MarkingCase, on_delete=models.CASCADE, related_name="coordinations")
    marks = models.ManyToManyField(Mark, related_name="+")
    claims = models.JSONField(default=dict)
    scheme_version = models.ForeignKey(SchemeVersion, null=True, on_delete=models.RESTRICT, related_name="+")
    outcome = models.CharField(max_length=10, choices=CoordinationOutcome, blank=True)
    sheet = models.JSONField(null=True, blank=True)
    points = models.DecimalField(max_digits=6, decimal_places=2, null=True, blank=True)
    reason = models.CharField(max_length=WORDS_LENGTH, blank=True)
    signatories = models.ManyToManyField(User, related_name="+")
    row_version = models.PositiveIntegerField(default=0)
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case"], condition=Q(outcome=""), name="coordination_one_open"),
            models.CheckConstraint(condition=Q(outcome="") | Q(points__isnull=False), name="coordination_outcome_has_points"),
        ]


class CoordinationRemark(models.Model):
    """One remark in the discussion."""

    coordination = models.ForeignKey(Coordination, on_delete=models.CASCADE, related_name="remarks")
    person = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    words = models.CharField(max_length=WORDS_LENGTH)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]


class Precedent(models.Model):
    """A ruling for later scripts, found by item and kind of error after sealing."""

    coordination = models.ForeignKey(Coordination, null=True, blank=True, on_delete=models.CASCADE, related_name="precedents")
    case = models.ForeignKey(MarkingCase, on_delete=models.CASCADE, related_name="precedents")
    lineage = models.UUIDField(null=True, blank=True, help_text="The scheme item's, where it is about one.")
    fallacy = models.CharField(max_length=40, blank=True)
    words = models.CharField(max_length=WORDS_LENGTH)
    points = models.DecimalField(max_digits=6, decimal_places=2)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)


class FinalGrade(models.Model):
    """The official result of a case, from one sealed mark or one coordination. Never changed: a later grade supersedes it.

    No column links to a suggestion, and the database rejects any other basis.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    case = models.ForeignKey(MarkingCase, on_delete=models.RESTRICT, related_name="grades")
    mark = models.ForeignKey(Mark, null=True, blank=True, on_delete=models.RESTRICT, related_name="grades")
    coordination = models.ForeignKey(Coordination, null=True, blank=True, on_delete=models.RESTRICT, related_name="grades")
    points = models.DecimalField(max_digits=6, decimal_places=2)
    scheme_version = models.ForeignKey(SchemeVersion, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    sheet = models.JSONField()
    derivation = models.TextField(blank=True)
    reason = models.CharField(max_length=REASON_LENGTH, blank=True)
    supersedes = models.OneToOneField("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="superseded_by")
    by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(mark__isnull=False, coordination__isnull=True) | Q(mark__isnull=True, coordination__isnull=False),
                name="grade_has_one_basis",
            ),
            models.UniqueConstraint(fields=["case"], condition=Q(supersedes__isnull=True), name="grade_one_first"),
        ]


class ReleasePart(models.TextChoices):
    """A part of the results that a batch shows to students, in the default order."""

    COMMENTS = "comments", "Comments"
    VERDICTS = "verdicts", "Step verdicts"
    POINTS = "points", "Points with derivation"
    SCHEME = "scheme", "Marking scheme, as written to students"
    SOLUTION = "solution", "Reference solutions"
    STATISTICS = "statistics", "Statistics"


class ReleaseBatch(models.Model):
    """Parts of a contest's results, released together. Can be taken back until `undo_until`."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    contest = models.ForeignKey(Contest, on_delete=models.RESTRICT, related_name="releases")
    parts = models.JSONField()
    by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    released_at = models.DateTimeField(auto_now_add=True)
    undo_until = models.DateTimeField()
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["released_at", "pk"]


class ReleasedGrade(models.Model):
    """The grade that a batch shows for a case. A later grade stays hidden until a later batch."""

    batch = models.ForeignKey(ReleaseBatch, on_delete=models.CASCADE, related_name="grades")
    grade = models.ForeignKey(FinalGrade, on_delete=models.RESTRICT, related_name="releases")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "grade"], name="released_grade_once")]


class AppealState(models.TextChoices):
    """The state of an appeal. A marker who did not make the mark answers it."""

    WRITTEN = "written", "Handed in"
    HEARD = "heard", "Being looked at"
    UPHELD = "upheld", "Granted"
    REJECTED = "rejected", "Not granted"
    WITHDRAWN = "withdrawn", "Withdrawn"


class Appeal(models.Model):
    """An appeal against a scheme item (`lineage`) or a step verdict (`verdict`, its id on the sheet) of a released grade."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    grade = models.ForeignKey(FinalGrade, on_delete=models.RESTRICT, related_name="appeals")
    lineage = models.UUIDField(null=True, blank=True)
    verdict = models.CharField(max_length=36, blank=True)
    words = models.TextField()
    state = models.CharField(max_length=10, choices=AppealState, default=AppealState.WRITTEN)
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    mark = models.OneToOneField(Mark, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(lineage__isnull=False, verdict="") | (Q(lineage__isnull=True) & ~Q(verdict="")),
                name="appeal_one_target",
            ),
            models.UniqueConstraint(
                fields=["grade", "lineage"],
                condition=Q(state__in=("written", "heard"), lineage__isnull=False),
                name="appeal_item_once",
            ),
            models.UniqueConstraint(
                fields=["grade", "verdict"],
                condition=Q(state__in=("written", "heard")) & ~Q(verdict=""),
                name="appeal_verdict_once",
            ),
        ]
