"""Submissions (one per paper and problem) with their drafts, immutable versions, steps and pages.

Positions count code points in `source` of a version (`apps.reasoning.texts.source`); `raw` is the original input.
"""

import uuid
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, Paper
from apps.reasoning.marking.sheets.pages import page_step

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

TEXT_LENGTH = 200_000
FILENAME_LENGTH = 200
ALIAS_LENGTH = 60
REVISION_LENGTH = 200
REASON_LENGTH = 500


class TextFormat(models.TextChoices):
    """Markup of a text; one renderer formats both."""

    MARKDOWN = "markdown", "Text with formulas"
    LATEX = "latex", "LaTeX"


class Origin(models.TextChoices):
    """Origin of a version."""

    TYPED = "typed", "Typed here"
    IMPORTED = "imported", "Imported"


class Submission(models.Model):
    """An author's work on one problem. Only the author reads the draft; `row_version` counts its changes."""

    paper = models.ForeignKey(Paper, on_delete=models.CASCADE, related_name="submissions")
    problem = models.ForeignKey(ContestProblem, on_delete=models.CASCADE, related_name="submissions")
    draft = models.TextField(blank=True)
    draft_format = models.CharField(max_length=10, choices=TextFormat, default=TextFormat.MARKDOWN)
    draft_saved_at = models.DateTimeField(null=True, blank=True)
    row_version = models.PositiveIntegerField(default=0)

    if TYPE_CHECKING:
        versions: RelatedManager["SubmissionVersion"]
        scans: RelatedManager["Scan"]

    class Meta:
        constraints = [models.UniqueConstraint(fields=["paper", "problem"], name="submission_once")]


class SubmissionVersion(models.Model):
    """A handed-in text. The database rejects changes. Markers mark the newest version unless it was withdrawn."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    format = models.CharField(max_length=10, choices=TextFormat)
    origin = models.CharField(max_length=10, choices=Origin)
    raw = models.TextField()
    source = models.TextField()
    digest = models.CharField(max_length=64, help_text="sha-256 of the source, in hex.")
    segmenter = models.CharField(max_length=20)
    handed_in_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    if TYPE_CHECKING:
        steps: RelatedManager["Step"]
        pages: RelatedManager["VersionScan"]

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["submission", "number"], name="submission_version_number")]


class Step(models.Model):
    """A numbered piece of a version: `source[start:end]`, in code points."""

    version = models.ForeignKey(SubmissionVersion, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    kind = models.CharField(max_length=10)
    digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["version", "number"], name="step_number"),
            models.CheckConstraint(condition=Q(start__lt=models.F("end")), name="step_has_text"),
        ]

    @property
    def text(self) -> str:
        """The text of the step."""
        return self.version.source[self.start : self.end]


class Scan(models.Model):
    """An uploaded page, re-encoded as JPEG. `position`: its place in the draft; None after removal."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="scans")
    position = models.PositiveIntegerField(null=True, blank=True)
    jpeg = models.BinaryField()
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()

    if TYPE_CHECKING:
        pages: RelatedManager["VersionScan"]
        transcription: "Transcription"

    class Meta:
        ordering = ["position", "pk"]


class TranscriptionState(models.TextChoices):
    """State of a transcription. Only `TAKEN`, set by its author, adds it to a draft."""

    QUEUED = "queued", "Waits to be read"
    RUNNING = "running", "Being read"
    READY = "ready", "To be checked"
    FAILED = "failed", "Not read"
    DECLINED = "declined", "Laid aside"
    TAKEN = "taken", "In the text"


class Transcription(models.Model):
    """A model's transcription of a page, shown only to its author. It becomes part of a version only if the author takes it.

    `text` is the model's output, `edited` the author's correction, `reason` the cause of a failure, `tries` the number of
    requests.
    """

    scan = models.OneToOneField(Scan, on_delete=models.CASCADE, related_name="transcription")
    alias = models.CharField(max_length=ALIAS_LENGTH)
    revision = models.CharField(max_length=REVISION_LENGTH, blank=True, help_text="Which weights answered.")
    state = models.CharField(max_length=8, choices=TranscriptionState, default=TranscriptionState.QUEUED)
    text = models.TextField(blank=True)
    edited = models.TextField(blank=True)
    reason = models.CharField(max_length=REASON_LENGTH, blank=True)
    tries = models.PositiveSmallIntegerField(default=1)
    tokens = models.PositiveIntegerField(default=0)
    asked_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["asked_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state__in=("ready", "taken")) | ~Q(text=""), name="transcription_ready_has_text"
            ),
        ]

    @property
    def is_waiting(self) -> bool:
        """Whether the answer of the model is pending."""
        return self.state in (TranscriptionState.QUEUED, TranscriptionState.RUNNING)


class VersionScan(models.Model):
    """A page of a version."""

    version = models.ForeignKey(SubmissionVersion, on_delete=models.CASCADE, related_name="pages")
    scan = models.ForeignKey(Scan, on_delete=models.RESTRICT, related_name="pages")
    number = models.PositiveIntegerField()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["version", "number"], name="version_page_number")]

    @property
    def step(self) -> int:
        """The page as a step of marking."""
        return page_step(self.number)


class ForeignJudgement(models.Model):
    """An external judgement of an imported text, used only to measure agreement with sealed marks. No page shows it."""

    version = models.OneToOneField(SubmissionVersion, on_delete=models.CASCADE, related_name="+")
    points = models.DecimalField(max_digits=6, decimal_places=2)
    out_of = models.DecimalField(max_digits=6, decimal_places=2)
    words = models.TextField(blank=True)


class ImportFile(models.Model):
    """An uploaded file between preview and confirmation. Deleted on confirmation, replacement or expiry."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="+")
    filename = models.CharField(max_length=FILENAME_LENGTH)
    adds_problems = models.BooleanField(default=False)
    data = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
