"""Experiments: on grading, scripts × graders × models; on solving, problems × methods × teams. One journaled run per cell."""

import uuid
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.contests.models import Contest
from apps.experiments.solving.people.models import PersonMark as PersonMark
from apps.experiments.solving.rehearsal.stored import Rehearsal
from apps.graded_sets.models import POINTS, GradedScript, GradedSet
from apps.graders.planning.naming import PLAYERS_LENGTH
from apps.graders.planning.settings import DIGEST_LENGTH
from apps.problem_sets.models import ProblemSetItem, ProblemSetVersion
from apps.runs.models import Run
from apps.submissions.models import SubmissionVersion

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

__all__ = ["Rehearsal"]  # Kept in its package.
TITLE_LENGTH = 120
#: A larger difference than this fraction of the scale (2 of 7 points) is far from the person's points.
FAR = 2 / 7 + 1e-9


class ExperimentKind(models.TextChoices):
    GRADING = "grading", "grading"
    SOLVING = "solving", "solving"


class ExperimentState(models.TextChoices):
    PLANNED = "planned", "planned"  # On solving only: nothing is asked before it is started.
    RUNNING = "running", "running"
    PAUSED = "paused", "paused"  # No cell is started; running cells end.
    DONE = "done", "done"
    CANCELLED = "cancelled", "cancelled"


class CellState(models.TextChoices):
    WAITING = "waiting", "waiting"
    RUNNING = "running", "being graded"
    SCORED = "scored", "scored"
    UNSCORED = "unscored", "unscored"
    FAILED = "failed", "failed"  # `trouble` says why; it can be retried.
    CANCELLED = "cancelled", "cancelled"


class Experiment(models.Model):
    """An experiment on the scripts of one set or one contest, or on the problems of a set. `begun_at`: last start or resume.

    `manifest`: that of an experiment on solving (`solving.manifest`). The other fields of the matrix are those of gradings.
    `params`: parameters of graders and the seed for `GradingPlan`; their `seeds` are those of the repeats.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    start_id = models.UUIDField(null=True, unique=True, editable=False, help_text="The form it was started with.")
    title = models.CharField(max_length=TITLE_LENGTH)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    kind = models.CharField(
        max_length=10, choices=ExperimentKind, default=ExperimentKind.GRADING, db_default=ExperimentKind.GRADING
    )
    problem_set = models.ForeignKey(ProblemSetVersion, null=True, on_delete=models.PROTECT, related_name="experiments")
    manifest: "models.JSONField[dict[str, Any] | None, dict[str, Any] | None]" = models.JSONField(null=True)
    graded_set = models.ForeignKey(GradedSet, null=True, on_delete=models.CASCADE, related_name="experiments")
    contest = models.ForeignKey(Contest, null=True, on_delete=models.CASCADE, related_name="experiments")
    chosen = models.CharField(max_length=300, blank=True, help_text="Which scripts, in words.")
    # Variants and players of the cells in the notation of `naming`.
    workflows: "models.JSONField[list[str], list[str]]" = models.JSONField()
    aliases: "models.JSONField[list[str], list[str]]" = models.JSONField()
    params: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    at_once = models.PositiveSmallIntegerField(default=4)
    state = models.CharField(max_length=10, choices=ExperimentState, default=ExperimentState.RUNNING)
    state_reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    begun_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    if TYPE_CHECKING:
        cells: RelatedManager["ExperimentCell"]
        solving_cells: RelatedManager["SolvingCell"]
        rehearsals: RelatedManager[Rehearsal]

    class Meta:
        db_table = "grading_experiment"
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(graded_set__isnull=True, contest__isnull=False, kind="grading")
                | Q(graded_set__isnull=False, contest__isnull=True, kind="grading")
                | Q(graded_set__isnull=True, contest__isnull=True, problem_set__isnull=False, kind="solving"),
                name="experiment_of_one_source",
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_live(self) -> bool:
        return self.state in (ExperimentState.RUNNING, ExperimentState.PAUSED)


class ExperimentCell(models.Model):
    """The grading of one script by one grader. The script is a contest version or one of a set.

    `workflow` and `alias` are a variant and its players (`naming`); `settings` is the key of its settings (`asked_with`).

    `seed` is the seed of its repeat; None if the experiment has one seed for all.

    `points` out of `scale`, or `unscored` says why there are none; both are empty until the run has ended. `prepares`: its
    run makes the pieces for the other cells of its `problem` (digest of the statement), workflow and alias, which wait for it.
    `attempt` counts its runs. `calls` and `tokens` include those for prepared pieces.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="cells")
    position = models.PositiveIntegerField()
    script = models.ForeignKey(GradedScript, null=True, on_delete=models.CASCADE, related_name="cells")
    version = models.ForeignKey(SubmissionVersion, null=True, on_delete=models.CASCADE, related_name="+")
    problem = models.CharField(max_length=64)
    workflow = models.CharField(max_length=60)
    alias = models.CharField(max_length=PLAYERS_LENGTH)
    settings = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    seed = models.PositiveBigIntegerField(null=True)
    prepares = models.BooleanField(default=False)
    attempt = models.PositiveSmallIntegerField(default=1)
    run = models.OneToOneField(Run, null=True, on_delete=models.SET_NULL, related_name="cell")
    state = models.CharField(max_length=10, choices=CellState, default=CellState.WAITING)
    trouble = models.TextField(blank=True)
    points = models.DecimalField(**POINTS, null=True)
    scale = models.DecimalField(**POINTS, null=True)
    unscored = models.TextField(blank=True)
    findings = models.PositiveSmallIntegerField(default=0)
    suspicious = models.PositiveSmallIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    prepared_calls = models.PositiveIntegerField(default=0)
    prepared_tokens = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    ended_at = models.DateTimeField(null=True)

    @property
    def online_calls(self) -> int:
        """Calls for this script alone."""
        return self.calls - self.prepared_calls

    @property
    def online_tokens(self) -> int:
        """Tokens for this script alone."""
        return self.tokens - self.prepared_tokens

    @property
    def apart_points(self) -> str | None:
        """Grader minus person in points of the cell's scale, with a sign; None if either is missing."""
        apart = getattr(self, "apart", None)
        if apart is None or self.scale is None:
            return None
        points = round(apart * float(self.scale), 2)
        return f"{points:+g}".replace("-", "−") if points else "0"

    @property
    def is_far(self) -> bool:
        """Whether the difference from the person's points exceeds `FAR`."""
        apart = getattr(self, "apart", None)
        return apart is not None and abs(apart) > FAR

    class Meta:
        db_table = "grading_experimentcell"
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "position"], name="cell_position"),
            models.CheckConstraint(
                condition=Q(script__isnull=True, version__isnull=False) | Q(script__isnull=False, version__isnull=True),
                name="cell_of_one_script",
            ),
            models.CheckConstraint(
                condition=~Q(state="scored") | Q(points__isnull=False, unscored=""), name="cell_scored_has_points"
            ),
            models.CheckConstraint(condition=~Q(state="unscored") | Q(points__isnull=True), name="cell_unscored_has_none"),
        ]
        indexes = [
            models.Index(fields=["experiment", "state", "position"], name="cell_state"),
            models.Index(fields=["experiment", "ended_at"], name="cell_ended"),
            models.Index(fields=["experiment", "problem", "workflow", "alias"], name="cell_group"),
        ]


class SolvingState(models.TextChoices):
    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"
    FAILED = "failed", "failed"  # `trouble` says why; it can be retried.
    CANCELLED = "cancelled", "cancelled"


class SolvingCell(models.Model):
    """One run of a method by a team on a problem. `budget` and `repeat`: their numbers in the manifest, from 0.

    `address`: digest of all that decides the run. `taken_over`: its run was made for another cell of this address. `answer`: id
    of the proof or candidate that it handed in; `text`: what an external cell handed in; `accepted`: the method's own verdict.
    `attempt` counts its runs. `by_alias`: calls and tokens of prompts and answers. `handed`: anytime answers as `[calls,
    completion tokens, tokens, seconds, by_alias, answer]`; older ones have no `by_alias`.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="solving_cells")
    position = models.PositiveIntegerField()
    item = models.ForeignKey(ProblemSetItem, on_delete=models.PROTECT, related_name="+")
    method = models.CharField(max_length=60)
    team = models.CharField(max_length=60)
    budget = models.PositiveSmallIntegerField(default=0)
    repeat = models.PositiveSmallIntegerField(default=0)
    address = models.CharField(max_length=64, blank=True)
    attempt = models.PositiveSmallIntegerField(default=1)
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="solving_cells")
    taken_over = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=SolvingState, default=SolvingState.WAITING)
    trouble = models.TextField(blank=True)
    answer = models.CharField(max_length=80, blank=True)
    text = models.TextField(blank=True, default="", db_default="")
    accepted = models.BooleanField(null=True)
    calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    by_alias: "models.JSONField[dict[str, list[int]] | None, dict[str, list[int]] | None]" = models.JSONField(null=True)
    handed: "models.JSONField[list[list[Any]] | None, list[list[Any]] | None]" = models.JSONField(null=True)
    ended_at = models.DateTimeField(null=True)

    if TYPE_CHECKING:
        scores: RelatedManager["CellScore"]

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "position"], name="solving_cell_position"),
            models.UniqueConstraint(
                fields=["experiment", "item", "method", "team", "budget", "repeat"], name="solving_cell_place"
            ),
        ]
        indexes = [
            models.Index(fields=["experiment", "state", "position"], name="solving_cell_state"),
            models.Index(fields=["experiment", "ended_at"], name="solving_cell_ended"),
            models.Index(fields=["address", "state"], name="solving_cell_address"),
        ]


class CellScore(models.Model):
    """The score of an answer of a cell by a scorer: `points` out of `scale`, or `unscored` says why there are none.

    `answer`: id in the run; an answer that was handed in only at a smaller budget has a score of its own. `run`: the grading.
    `digest`: for scores by people, of the text that they are asked to mark; empty until the cell has finished.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "running"
        ASKED = "asked", "to be marked"
        SCORED = "scored", "scored"
        UNSCORED = "unscored", "unscored"
        FAILED = "failed", "failed"

    cell = models.ForeignKey(SolvingCell, on_delete=models.CASCADE, related_name="scores")
    scorer = models.CharField(max_length=60)
    answer = models.CharField(max_length=80, blank=True)
    digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    points = models.DecimalField(**POINTS, null=True)
    scale = models.DecimalField(**POINTS, null=True)
    unscored = models.TextField(blank=True)
    trouble = models.TextField(blank=True)
    comment = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    attempt = models.PositiveSmallIntegerField(default=1)
    run = models.OneToOneField(Run, null=True, on_delete=models.SET_NULL, related_name="cell_score")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cell", "scorer", "answer"], name="cell_score_once"),
            models.CheckConstraint(
                condition=~Q(state="scored") | Q(points__isnull=False, scale__isnull=False, unscored=""),
                name="cell_score_points",
            ),
            models.CheckConstraint(condition=~Q(state="unscored") | Q(points__isnull=True), name="cell_score_unscored"),
        ]
        indexes = [
            models.Index(fields=["state"], name="cell_score_state"),
            models.Index(fields=["digest"], name="cell_score_digest"),
        ]
