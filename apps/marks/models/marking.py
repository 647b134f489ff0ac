"""Assignment and marks: cases, their tasks, marks with every change, and sealed content as rows."""

import uuid
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import F, Q

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, WORDS_LENGTH, Band, Fallacy, Role
from apps.schemes.models import MarkingScheme, SchemeItem, SchemeVersion
from apps.submissions.models import SubmissionVersion

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager


class MarkingSetup(models.Model):
    """How one problem of a contest is marked: scheme, number of markers, share of papers without reveal.

    `seed` makes the order of scripts and the random draws repeatable; markers never see it.
    """

    problem = models.OneToOneField(ContestProblem, on_delete=models.CASCADE, related_name="setup")
    scheme = models.ForeignKey(MarkingScheme, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    markers = models.PositiveSmallIntegerField(default=1)
    unrevealed_percent = models.PositiveSmallIntegerField(default=15)
    remark_percent = models.PositiveSmallIntegerField(default=0, help_text="Settled scripts that come back unannounced.")
    needs_calibration = models.BooleanField(default=False)
    asks_place = models.BooleanField(default=True, help_text="Points between none and all need a reason with its place.")
    graders: "models.JSONField[list[str] | None, list[str] | None]" = models.JSONField(
        null=True, default=None, help_text="Names of graders asked for suggestions; empty for those of the settings."
    )
    seed = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(markers__in=(1, 2)), name="setup_one_or_two_markers"),
            models.CheckConstraint(condition=Q(unrevealed_percent__lte=100, remark_percent__lte=100), name="setup_percents"),
        ]


class CaseState(models.TextChoices):
    """The state of a case. Every change, including reopening, is recorded as an `AuditEvent`."""

    OPEN = "open", "To be marked"
    COMPARED = "compared", "Both marks sealed"
    DISPUTED = "disputed", "Marks differ"
    SETTLED = "settled", "Settled"
    RELEASED = "released", "Released"
    APPEALED = "appealed", "Appealed"


#: States of a case that has its grade, apart from an appeal.
SETTLED = (CaseState.SETTLED, CaseState.RELEASED)


class MarkingCase(models.Model):
    """The marking of one version of a script."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    problem = models.ForeignKey(ContestProblem, on_delete=models.CASCADE, related_name="cases")
    version = models.OneToOneField(SubmissionVersion, on_delete=models.RESTRICT, related_name="case")
    state = models.CharField(max_length=10, choices=CaseState, default=CaseState.OPEN)
    is_calibration = models.BooleanField(default=False)
    row_version = models.PositiveIntegerField(default=0)

    if TYPE_CHECKING:
        tasks: RelatedManager["MarkingTask"]

    class Meta:
        indexes = [
            models.Index(fields=["problem", "state"], name="case_by_state"),
            models.Index(fields=["problem"], condition=Q(is_calibration=True), name="case_calibration"),
        ]


class Slot(models.TextChoices):
    """The purpose of a mark."""

    FIRST = "first", "First mark"
    SECOND = "second", "Second mark"
    THIRD = "third", "Fresh mark"
    CALIBRATION = "calibration", "Calibration"
    REMARK = "remark", "Re-mark"
    APPEAL = "appeal", "Answer to an appeal"
    AGAIN = "again", "Marked again, the scheme was changed"


#: Purposes of marks that markers get by claims. The others are given to one marker, who marks alone.
CLAIMED = (Slot.FIRST, Slot.SECOND, Slot.THIRD, Slot.AGAIN)
#: Claims look first at one of this many parts of the cases, by the remainder of their keys.
CLAIM_PARTS = 64


class MarkingTask(models.Model):
    """One mark to be made. `assignee` holds it until `lease_until`, or for good once the mark is sealed."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    case = models.ForeignKey(MarkingCase, on_delete=models.CASCADE, related_name="tasks")
    slot = models.CharField(max_length=12, choices=Slot)
    assignee = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="marking_tasks")
    lease_until = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["case", "slot"], condition=Q(slot__in=("first", "second", "third")), name="task_slot_once"
            ),
            models.UniqueConstraint(
                fields=["case", "assignee"],
                condition=Q(slot__in=("first", "second", "third"), assignee__isnull=False),
                name="task_markers_differ",
            ),
        ]
        indexes = [
            models.Index(fields=["assignee", "done_at"], name="task_of_marker"),
            models.Index(fields=["case"], condition=Q(done_at=None), name="task_open"),
            models.Index(F("case") % CLAIM_PARTS, condition=Q(done_at=None), name="task_open_part"),
        ]


class PassReason(models.TextChoices):
    """Why a marker hands a script on."""

    SKIP = "skip", "Later, or another marker"
    APPROACH = "approach", "New approach"
    UNSURE = "unsure", "Unsure"
    STATEMENT = "statement", "Statement or scheme faulty"
    CONFLICT = "conflict", "I know whose it is"


class Pass(models.Model):
    """A marker handed a script on, or asked the captain. The captain's answer closes the question."""

    task = models.ForeignKey(MarkingTask, on_delete=models.CASCADE, related_name="passes")
    person = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    reason = models.CharField(max_length=10, choices=PassReason)
    words = models.CharField(max_length=REASON_LENGTH, blank=True)
    answer = models.CharField(max_length=WORDS_LENGTH, blank=True)
    answered_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["at", "pk"]


class MarkState(models.TextChoices):
    """The state of a mark. Drafts change, sealed marks never do. Void marks count nowhere."""

    DRAFT = "draft", "Draft"
    SEALED = "sealed", "Sealed"
    CONFIRMED = "confirmed", "Confirmed"
    REVISED = "revised", "Revised"
    VOID = "void", "Void"


class Mark(models.Model):
    """One marker's judgement. `sheet` is a `MarkSheet`; `sealed_sheet` is the sealed one and never changes.

    `points` are the sealed points or, after a revision, the new ones; `sealed_points` stay. `is_assisted`: made after seeing
    suggestions, so excluded from statistics of agreement. `position`: number of the command behind the current sheet.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    task = models.OneToOneField(MarkingTask, on_delete=models.RESTRICT, related_name="mark")
    marker = models.ForeignKey(User, on_delete=models.RESTRICT, related_name="marks")
    scheme_version = models.ForeignKey(SchemeVersion, null=True, blank=True, on_delete=models.RESTRICT, related_name="marks")
    state = models.CharField(max_length=10, choices=MarkState, default=MarkState.DRAFT)
    sheet = models.JSONField(default=dict)
    sealed_sheet = models.JSONField(null=True, blank=True)
    points = models.DecimalField(max_digits=6, decimal_places=2, null=True, blank=True)
    sealed_points = models.DecimalField(max_digits=6, decimal_places=2, null=True, blank=True)
    band = models.CharField(max_length=10, blank=True, choices=[(band.value, band.value) for band in Band])
    change_reason = models.CharField(max_length=REASON_LENGTH, blank=True)
    is_assisted = models.BooleanField(default=False)
    row_version = models.PositiveIntegerField(default=0)
    position = models.PositiveIntegerField(default=0)
    order_index = models.PositiveIntegerField(default=0, help_text="Position in the order of this marker and problem.")
    active_seconds = models.FloatField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    sealed_at = models.DateTimeField(null=True, blank=True)

    if TYPE_CHECKING:
        commands: RelatedManager["MarkCommand"]
        items: RelatedManager["MarkItem"]
        verdicts: RelatedManager["Verdict"]

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="draft") | Q(state="void") | Q(sealed_sheet__isnull=False, sealed_points__isnull=False),
                name="mark_sealed_is_whole",
            ),
        ]
        indexes = [models.Index(fields=["task"], condition=Q(state="draft"), name="mark_draft")]


class MarkCommand(models.Model):
    """One change of a draft with the resulting sheet; undo and redo move `Mark.position`. `command_id` prevents repeats."""

    mark = models.ForeignKey(Mark, on_delete=models.CASCADE, related_name="commands")
    command_id = models.UUIDField()
    number = models.PositiveIntegerField()
    verb = models.CharField(max_length=30)
    sheet = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["mark", "command_id"], name="mark_command_once"),
            models.UniqueConstraint(fields=["mark", "number"], name="mark_command_number"),
        ]


class MarkItem(models.Model):
    """An item ticked in a sealed mark, as a row for statistics and recomputation."""

    mark = models.ForeignKey(Mark, on_delete=models.CASCADE, related_name="items")
    item = models.ForeignKey(SchemeItem, on_delete=models.RESTRICT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["mark", "item"], name="mark_item_once")]


class Verdict(models.Model):
    """A step verdict of a sealed mark, as a row for precedents, statistics and students. `key` is its id on the sheet.

    A page is a step too, with a `region` on it (`apps.reasoning.marking.sheets.pages`).
    """

    mark = models.ForeignKey(Mark, on_delete=models.CASCADE, related_name="verdicts")
    key = models.CharField(max_length=36)
    step = models.PositiveIntegerField()
    fallacy = models.CharField(max_length=40, choices=[(one.value, one.value) for one in Fallacy])
    role = models.CharField(max_length=12, choices=[(one.value, one.value) for one in Role])
    root_key = models.CharField(max_length=36, blank=True)
    words = models.TextField(blank=True)
    anchor = models.JSONField(null=True, blank=True)
    region = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["step", "pk"]
        constraints = [models.UniqueConstraint(fields=["mark", "key"], name="verdict_key")]


class Phrase(models.Model):
    """A reusable comment for one problem of a contest. With two blind markers, only its author can find it."""

    problem = models.ForeignKey(ContestProblem, on_delete=models.CASCADE, related_name="phrases")
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    words = models.CharField(max_length=WORDS_LENGTH)
    uses = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-uses", "pk"]
        constraints = [models.UniqueConstraint(fields=["problem", "author", "words"], name="phrase_once")]


class AuditEvent(models.Model):
    """Who did what to which object, and why. Never changed or deleted: the database rejects both."""

    contest = models.ForeignKey(Contest, null=True, on_delete=models.RESTRICT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    actor_kind = models.CharField(max_length=10, choices=[("person", "Person"), ("grader", "Grader"), ("system", "System")])
    verb = models.CharField(max_length=40)
    case = models.ForeignKey(MarkingCase, null=True, blank=True, on_delete=models.RESTRICT, related_name="audit")
    mark = models.ForeignKey(Mark, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    body = models.JSONField(default=dict, help_text="Versions before and after, scheme version, reason.")

    class Meta:
        ordering = ["at", "pk"]
        indexes = [models.Index(fields=["contest", "at"], name="audit_of_contest")]
