"""Points by graders, which training jobs share."""

from django.db import models
from django.db.models import Q

from apps.problems.models import ProblemVersion
from apps.runs.models import Run


class RewardState(models.TextChoices):
    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    SCORED = "scored", "scored"
    UNSCORED = "unscored", "unscored"
    FAILED = "failed", "failed"


class Reward(models.Model):
    """Points by a grader for one text, shared by all jobs that ask for the same.

    `address`: digest of all that decides the grading: text, statement, workflow, models, sampling, prompts and code. `share` of
    full points, or `trouble` says why there is none. A failed grading is made again when it is asked for again.
    """

    address = models.CharField(max_length=64, unique=True)
    problem_version = models.ForeignKey(ProblemVersion, on_delete=models.CASCADE, related_name="+")
    text = models.TextField()
    state = models.CharField(max_length=10, choices=RewardState, default=RewardState.WAITING)
    share = models.FloatField(null=True)
    trouble = models.TextField(blank=True)
    attempt = models.PositiveIntegerField(default=1)
    run = models.OneToOneField(Run, null=True, on_delete=models.SET_NULL, related_name="reward")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["state"], name="reward_state")]
        constraints = [
            models.CheckConstraint(condition=~Q(state="scored") | Q(share__isnull=False), name="reward_scored_has_share"),
            models.CheckConstraint(condition=Q(state="scored") | Q(share__isnull=True), name="reward_share_is_scored"),
        ]

    def __str__(self) -> str:
        return self.address[:12]
