"""Runs, their append-only events, the journal's step records, and content-addressed texts."""

import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from apps.problems.models import ProblemVersion
from apps.reasoning.graders.registry import GRADERS, PREPARERS

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager


class RunStatus(models.TextChoices):
    QUEUED = "queued", "queued"  # Waits for an orchestrator.
    RUNNING = "running", "running"  # Has an owner, or is stalled after its owner died and will be taken over.
    PAUSED = "paused", "paused"  # A person stopped it at a control point; the owner keeps the lease and waits.
    FINISHED = "finished", "finished"
    CANCELLED = "cancelled", "cancelled"
    FAILED = "failed", "failed"  # Everything is kept; it can be resumed.
    NEEDS_FORK = "needs_fork", "needs fork"  # Other code or prompts would ask other questions than were recorded.


LIVE = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.PAUSED)
#: The preset of a run that was made elsewhere and read from a file. No scaffold has a preset of this name.
IMPORTED = "imported"
#: The preset of a run that is one cell of an experiment; the experiment's page lists it.
BATCHED = "experiment"
#: The preset of a run that a training job makes for itself; the job's page lists it.
ROLLOUT = "rollout"
#: The preset of a run that gives a training job a reward.
REWARD = "reward"
#: The preset of a run that tries a model in every role; the model's page shows what came of it.
TRIAL = "trial"
#: Presets of automatic runs, which no list of runs shows and which have limits of their own.
APART = (BATCHED, ROLLOUT, REWARD, TRIAL)
#: Presets of runs that may be gradings, from which no model learns.
GRADINGS = (BATCHED, REWARD)


#: Endings of finished runs, by their outcome.
ACCEPTED, NOT_ACCEPTED, NOT_JUDGED, NOTHING_READABLE = "accepted", "not accepted", "not judged", "nothing readable"
ENDING = Case(
    When(~Q(status=RunStatus.FINISHED), then=F("status")),
    When(outcome__ended_by="nothing-readable", then=Value(NOTHING_READABLE)),
    When(outcome__accepted=True, then=Value(ACCEPTED)),
    When(outcome__accepted=False, then=Value(NOT_ACCEPTED)),
    default=Value(NOT_JUDGED),
    output_field=models.CharField(),
)


def aliases_text(aliases: Iterable[str]) -> str:
    """The distinct names in order, each between line ends, so that one name can be searched for."""
    names = sorted({name for name in aliases if name})
    return "".join(f"\n{name}" for name in names) + "\n" if names else ""


class Run(models.Model):
    """One durable execution of a scaffold on a problem version.

    `fence` grows at every take-over and guards every write. `last_seq` is the number of the newest event. Counters are sums
    over the step records, kept in the transaction that adds them: `calls` and tokens over the calls that this run made, for
    which it has a budget; the `inherited_` ones over those that a fork took over, for which no model was asked.

    The columns from `ending` to `confidence` are for the list of runs, which sorts and filters by them. `ending` is the status,
    or the words of a finished run's outcome. `aliases` are the models of the roles (`aliases_text`). `money` counts by the
    prices of the specification and is null without prices. `apps.lemmas.projection` counts lemmas without merged ones;
    `lemmas_held` are verified. `confidence` is that of the selected proof.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    start_id = models.UUIDField(null=True, unique=True, editable=False, help_text="The form it was started with.")
    title = models.CharField(max_length=200)
    problem_version = models.ForeignKey(ProblemVersion, on_delete=models.PROTECT, related_name="runs")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="runs")
    scaffold = models.CharField(max_length=60)
    preset = models.CharField(max_length=60, blank=True)
    spec: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField()
    budget: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    status = models.CharField(max_length=16, choices=RunStatus, default=RunStatus.QUEUED)
    status_reason = models.TextField(blank=True)
    is_authored = models.BooleanField(default=False)
    is_assisted = models.BooleanField(default=False, help_text="A person changed its course; left out of benchmark tables.")
    forked_from = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="forks")

    fence = models.PositiveIntegerField(default=0)
    lease_owner = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True)
    last_seq = models.PositiveIntegerField(default=0)

    calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    inherited_calls = models.PositiveIntegerField(default=0, db_default=0)
    inherited_prompt_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    inherited_completion_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    active_seconds = models.FloatField(default=0.0)
    outcome: "models.JSONField[dict[str, Any] | None, dict[str, Any] | None]" = models.JSONField(null=True)
    ending = models.GeneratedField(expression=ENDING, output_field=models.CharField(max_length=20), db_persist=True)
    aliases = models.TextField(default="", db_default="", blank=True)
    seed = models.PositiveBigIntegerField(null=True)
    rounds = models.PositiveIntegerField(default=0, db_default=0)
    money = models.FloatField(null=True)
    lemmas_count = models.PositiveIntegerField(default=0, db_default=0)
    lemmas_held = models.PositiveIntegerField(default=0, db_default=0)
    confidence = models.FloatField(null=True)

    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    if TYPE_CHECKING:
        events: RelatedManager["RunEvent"]
        steps: RelatedManager["Step"]
        commands: RelatedManager["RunCommand"]

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["status", "lease_until"], name="run_status_lease"),
            models.Index(fields=["-created_at", "-id"], name="run_newest"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    @property
    def is_imported(self) -> bool:
        """Whether it was imported from a file. It made no calls here, so it can be neither resumed nor forked."""
        return self.preset == IMPORTED

    @property
    def stage(self) -> str:
        """What the number `round` of its lemmas counts: an imported graph has depths there, as its file has no rounds."""
        return "level" if self.is_imported else "round"

    @property
    def is_grading(self) -> bool:
        """A model grader on a script: its result has a page of its own, and it is started from there, not forked."""
        return self.scaffold in GRADERS

    @property
    def is_about_problem(self) -> bool:
        """A program about a problem itself: references prepared, a scheme written, quality or difficulty found."""
        return self.scaffold in PREPARERS

    @property
    def is_attempt(self) -> bool:
        """A scaffold at work on its problem here: what can be forked, and learned from."""
        return not (self.is_imported or self.is_grading or self.is_about_problem or self.preset == TRIAL)

    @property
    def is_stalled(self) -> bool:
        """Whether its lease has expired; an orchestrator will take it over."""
        return self.status in (RunStatus.RUNNING, RunStatus.PAUSED) and (
            self.lease_until is None or self.lease_until < timezone.now()
        )

    @property
    def model_names(self) -> list[str]:
        """Names of the models of its roles."""
        return self.aliases.split("\n")[1:-1]

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def inherited_tokens(self) -> int:
        return self.inherited_prompt_tokens + self.inherited_completion_tokens


class RunEvent(models.Model):
    """One fact of a run. Rows are added, never changed; `seq` has no gaps; a fact with a known `key` is not added again."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events", db_index=False)
    seq = models.PositiveIntegerField()
    key = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    at = models.DateTimeField()
    body: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField()

    class Meta:
        ordering = ["seq"]
        constraints = [
            models.UniqueConstraint(fields=["run", "seq"], name="run_event_seq"),
            models.UniqueConstraint(fields=["run", "key"], name="run_event_key"),
        ]
        indexes = [models.Index(fields=["run", "kind", "seq"], name="run_event_kind")]


class Step(models.Model):
    """One recorded call or decision, under its structural key. The stored form of the core's `StepRecord`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps", db_index=False)
    key = models.CharField(max_length=180)
    kind = models.CharField(max_length=10, default="call")
    request_hash = models.CharField(max_length=64, blank=True)
    role = models.CharField(max_length=40, blank=True)
    alias = models.CharField(max_length=80, blank=True)
    rollout = models.PositiveIntegerField(default=0)
    round = models.PositiveIntegerField(default=0)
    subject = models.CharField(max_length=80, blank=True)
    index = models.PositiveIntegerField(default=0)
    attempt = models.PositiveSmallIntegerField(default=1)
    prompt_shas: "models.JSONField[list[str], list[str]]" = models.JSONField(default=list)
    text_sha = models.CharField(max_length=64, blank=True)
    reasoning_sha = models.CharField(max_length=64, blank=True)
    finish_reason = models.CharField(max_length=12, blank=True)
    failure = models.TextField(blank=True)
    value: "models.JSONField[dict[str, Any] | None, dict[str, Any] | None]" = models.JSONField(null=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    ttft_s = models.FloatField(null=True)
    duration_s = models.FloatField(default=0.0)
    model_revision = models.CharField(max_length=120, blank=True)
    worker = models.CharField(max_length=120, blank=True)
    recorded_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="step_run_key")]


class Blob(models.Model):
    """A text under the SHA-256 of its bytes, compressed. Prompts that share parts share rows."""

    sha = models.CharField(max_length=64, primary_key=True)
    size = models.PositiveIntegerField()
    data = models.BinaryField()


class RunCommand(models.Model):
    """What a person asked of a run. It takes effect at a control point; the event log says where."""

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        APPLIED = "applied", "applied"
        REFUSED = "refused", "refused"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="commands")
    command_id = models.UUIDField()
    name = models.CharField(max_length=20)
    args: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    reason = models.TextField(blank=True)
    requested_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["run", "command_id"], name="run_command_once")]
