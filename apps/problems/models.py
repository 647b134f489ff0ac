"""Problems with versioned statements, their reference solutions and hints."""

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager


class Topic(models.TextChoices):
    ALGEBRA = "A", "Algebra"
    COMBINATORICS = "C", "Combinatorics"
    GEOMETRY = "G", "Geometry"
    NUMBER_THEORY = "N", "Number theory"
    OTHER = "O", "Other"  # Also if a file gives no topic.


class Problem(models.Model):
    """A problem. Its text is the newest `ProblemVersion`; a run keeps the version on which it started."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=120, unique=True)
    title = models.CharField(max_length=200)
    topic = models.CharField(max_length=1, choices=Topic)
    subtopic = models.CharField(max_length=60, blank=True, help_text="Such as: functional equations.")
    source = models.CharField(max_length=200, blank=True)
    year = models.PositiveSmallIntegerField(null=True, blank=True)
    level = models.CharField(max_length=60, blank=True)
    origin = models.CharField(max_length=60, blank=True, help_text="Which import or library it came from.")
    external_id = models.CharField(max_length=120, blank=True)
    is_listed = models.BooleanField(
        default=True, db_default=True, help_text="In the library. Problems that came with an imported set are not, at first."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    edited_at = models.DateTimeField(
        null=True, blank=True, help_text="When a person last changed it; loading never overwrites it."
    )

    if TYPE_CHECKING:
        versions: RelatedManager["ProblemVersion"]
        reference_solutions: RelatedManager["ReferenceSolution"]
        hints: RelatedManager["ProblemHint"]

    class Meta:
        ordering = ["title", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["origin", "external_id"], condition=~models.Q(external_id=""), name="problem_origin_external_id"
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def current(self) -> "ProblemVersion":
        version = self.versions.order_by("-number").first()
        if version is None:
            raise ProblemVersion.DoesNotExist(f"problem {self.slug} has no version")
        return version


class ProblemVersion(models.Model):
    """An immutable statement with its optional answer and the text of its marking scheme."""

    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    statement = models.TextField()
    answer = models.TextField(blank=True)
    scheme_text = models.TextField(blank=True, help_text="The marking scheme as text.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["problem", "number"], name="problem_version_number")]


class ReferenceSolution(models.Model):
    """An accepted proof in its author's words; a problem may have several, grouped by approach."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="reference_solutions")
    approach = models.CharField(max_length=120, blank=True)
    text = models.TextField()
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "pk"]


class ProblemHint(models.Model):
    """An authored hint; `level` is its rung on the track "stuck" of `apps.reasoning.feedback.ladder`, 0 to 2.

    A removed hint keeps its row with an empty text, so that loading the sample library does not bring it back.
    """

    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="hints")
    level = models.PositiveSmallIntegerField()
    text = models.TextField(blank=True)

    class Meta:
        ordering = ["level"]
        constraints = [models.UniqueConstraint(fields=["problem", "level"], name="problem_hint_level")]


class DraftState(models.TextChoices):
    """The states of a draft by a model."""

    QUEUED = "queued", "waiting"
    RUNNING = "running", "under way"
    DONE = "done", "done"
    FAILED = "failed", "failed"


class GeometryDraft(models.Model):
    """A statement of geometry that a model writes for `words`. Only its owner sees it; nothing tests it unseen.

    `text` is what was written, `refusal` why it cannot be read, `reason` why there is no text.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="geometry_drafts")
    words = models.TextField()
    alias = models.CharField(max_length=80)
    state = models.CharField(max_length=10, choices=DraftState, default=DraftState.QUEUED)
    text = models.TextField(blank=True)
    refusal = models.TextField(blank=True)
    reason = models.CharField(max_length=500, blank=True)
    asked_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["asked_at", "pk"]

    @property
    def is_open(self) -> bool:
        return self.state in (DraftState.QUEUED, DraftState.RUNNING)


class ImportDraft(models.Model):
    """An uploaded file between preview and confirmation. Deleted on confirmation, discard, replacement or expiry."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="import_drafts")
    filename = models.CharField(max_length=200)
    shape = models.CharField(max_length=20, default="auto")
    data = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.filename
