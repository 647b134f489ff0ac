"""Training jobs, trained models, their comparisons with their parents, and decisions about them."""

import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.datasets.models import DatasetVersion
from apps.experiments.models import Experiment
from apps.learning.models_rewards import Reward as Reward
from apps.learning.models_rewards import RewardState as RewardState
from apps.runs.models import Run

TITLE_LENGTH = 120


class JobState(models.TextChoices):
    """State of a job. `running` covers the trainer's own states starting, running and saving."""

    QUEUED = "queued", "queued"
    STARTING = "starting", "starting"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"
    STOPPED = "stopped", "stopped"
    FAILED = "failed", "failed"
    LOST = "lost", "lost"


UNDER_WAY = (JobState.STARTING, JobState.RUNNING)
RESUMABLE = (JobState.STOPPED, JobState.FAILED, JobState.LOST)


class Sweep(models.Model):
    """A group of jobs that differ in a few settings. `names`: these settings, as in `config.json`."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    start_id = models.UUIDField(null=True, unique=True, editable=False, help_text="The form it was started with.")
    title = models.CharField(max_length=TITLE_LENGTH)
    names: "models.JSONField[list[str], list[str]]" = models.JSONField()
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.title


class TrainingJob(models.Model):
    """One job of the trainer. Its folder is `DATA_DIR/training/<public_id>` (docs/learning_jobs.md).

    `config` is the content of `config.json`, without `parent` and `dataset`, which follow from `dataset`. `attempt` counts the
    trainer's starts, like its state file. `pid` leads its process group on `host`; None until it has started.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    start_id = models.UUIDField(null=True, unique=True, editable=False, help_text="The form it was started with.")
    title = models.CharField(max_length=TITLE_LENGTH)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    recipe = models.CharField(max_length=40)
    base_title = models.CharField(max_length=200, help_text="What it starts from, in words.")
    dataset = models.ForeignKey(DatasetVersion, null=True, on_delete=models.PROTECT, related_name="training_jobs")
    config: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField()
    rollouts: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(
        default=dict,
        blank=True,
        help_text="The runs that it makes by itself; empty if it makes none.",
    )
    sweep = models.ForeignKey(Sweep, null=True, on_delete=models.SET_NULL, related_name="jobs")
    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    reason = models.CharField(max_length=40, blank=True)
    message = models.TextField(blank=True)
    step = models.PositiveIntegerField(default=0)
    steps = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField(default=0)
    checkpoint = models.CharField(max_length=200, blank=True)
    host = models.CharField(max_length=200, blank=True)
    device = models.CharField(max_length=100, blank=True)
    pid = models.PositiveIntegerField(null=True)
    stop_asked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    queued_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["state", "queued_at"], name="training_job_waiting")]

    def __str__(self) -> str:
        return self.title

    @property
    def folder(self) -> Path:
        """Working folder of the trainer."""
        return training_folder() / str(self.public_id)

    @property
    def toy(self) -> str:
        """Name of the toy; empty where the job learns from something else."""
        source = self.config.get("source", {})
        return str(source.get("toy", "")) if source.get("kind") == "toy" else ""

    @property
    def is_under_way(self) -> bool:
        """Whether a worker is training it or about to."""
        return self.state in UNDER_WAY

    @property
    def is_live(self) -> bool:
        """Whether it is queued or under way, so that its page changes."""
        return self.is_under_way or self.state == JobState.QUEUED

    @property
    def may_resume(self) -> bool:
        """Whether it ended before its last step."""
        return self.state in RESUMABLE

    @property
    def is_stopping(self) -> bool:
        """Whether it was asked to stop and has not stopped yet."""
        return self.is_under_way and self.stop_asked_at is not None


class Rollout(models.Model):
    """A run that a job made for itself. `number` counts a job's runs; `problem` is a slug."""

    job = models.ForeignKey(TrainingJob, on_delete=models.CASCADE, related_name="played")
    number = models.PositiveIntegerField()
    problem = models.CharField(max_length=200)
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="rollout")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="rollout_number_once")]

    def __str__(self) -> str:
        return f"{self.job}, run {self.number}"


class RewardAsked(models.Model):
    """A reward that a job asked for: of a solution of one of its own runs.

    `until`: its grading must have begun by then. `is_late`: it had not begun, or took longer than the job waits.
    """

    job = models.ForeignKey(TrainingJob, on_delete=models.CASCADE, related_name="rewards_asked")
    judged = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    solution = models.CharField(max_length=80)
    reward = models.ForeignKey(Reward, on_delete=models.CASCADE, related_name="asked")
    until = models.DateTimeField()
    is_known = models.BooleanField(default=False, help_text="Whether an earlier grading of the same text was used.")
    is_late = models.BooleanField(default=False)
    is_settled = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "judged", "solution"], name="reward_asked_once")]
        indexes = [models.Index(fields=["job", "is_settled"], name="reward_asked_open")]


def training_folder() -> Path:
    """Folder of all training jobs."""
    return Path(settings.DATA_DIR) / "training"


def under_way() -> Q:
    """Filter for jobs that a worker is training or should be."""
    return Q(state__in=UNDER_WAY)


class ModelState(models.TextChoices):
    """State of a trained model. Only promoted models that an engine serves can be chosen for runs."""

    CANDIDATE = "candidate", "candidate"
    PROMOTED = "promoted", "promoted"
    REJECTED = "rejected", "rejected"


class TrainedModel(models.Model):
    """A registered checkpoint. Its folder is `DATA_DIR/training/models/<name>`.

    `parent` is the base of its job, as in `config.json`; `parent_title` in words. `like` is the alias whose engine serves it:
    an adapter is loaded onto that model, a full model gets that alias' settings. Empty: no engine serves it.
    """

    name = models.CharField(max_length=60, unique=True)
    job = models.ForeignKey(TrainingJob, on_delete=models.PROTECT, related_name="models")
    step = models.PositiveIntegerField()
    parent: "models.JSONField[Any, Any]" = models.JSONField()
    parent_title = models.CharField(max_length=200)
    like = models.CharField(max_length=60, blank=True)
    is_adapter = models.BooleanField()
    manifest = models.CharField(max_length=64, help_text="SHA-256 of the checkpoint's manifest.")
    architecture: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=ModelState, default=ModelState.CANDIDATE)
    registered_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    registered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-registered_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def folder(self) -> Path:
        """Folder of its weights and tokenizer, in an engine's format."""
        return training_folder() / "models" / self.name

    @property
    def is_candidate(self) -> bool:
        """Whether it is neither promoted nor rejected."""
        return self.state == ModelState.CANDIDATE


class ComparisonState(models.TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "failed"


class Comparison(models.Model):
    """Comparison of a trained model with its parent on the same problems, seeds and budget.

    With a `toy` the trainer's environment plays both models. Otherwise an experiment does. Older comparisons list
    their runs in `runs` as `[problem, run of the parent, run of the child]`. `items` are set at the end, as `[problem, parent's
    score, child's score]`.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    start_id = models.UUIDField(null=True, unique=True, editable=False, help_text="The form it was started with.")
    model = models.ForeignKey(TrainedModel, on_delete=models.CASCADE, related_name="comparisons")
    toy = models.CharField(max_length=20, blank=True)
    plan: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    runs: "models.JSONField[list[list[str]], list[list[str]]]" = models.JSONField(default=list)
    experiment = models.ForeignKey(Experiment, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=10, choices=ComparisonState, default=ComparisonState.QUEUED)
    message = models.TextField(blank=True)
    items: "models.JSONField[list[Any], list[Any]]" = models.JSONField(default=list)
    measure = models.CharField(max_length=60, blank=True, help_text="What a score is.")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    @property
    def folder(self) -> Path:
        """Folder of the comparison's input and results in the trainer's environment."""
        return training_folder() / "comparisons" / str(self.public_id)

    @property
    def is_live(self) -> bool:
        """Whether it has not ended."""
        return self.state in (ComparisonState.QUEUED, ComparisonState.RUNNING)


class ModelDecision(models.Model):
    """Promotion or rejection of a model: user, time, reason, and the figures shown then. Immutable."""

    model = models.ForeignKey(TrainedModel, on_delete=models.CASCADE, related_name="decisions")
    state = models.CharField(max_length=10, choices=ModelState)
    reason = models.TextField()
    seen: "models.JSONField[list[Any], list[Any]]" = models.JSONField(default=list)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-decided_at", "-pk"]
