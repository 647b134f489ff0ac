"""What students receive in addition to grades: notices of results, remarks carried to a newer version, and hints.

Released grades and appeals have their tables in `apps.marks.models.decisions`. No table here names the author of a paper:
feedback belongs to a version, and a notice to a contest. A published ranking names papers by key.
"""

import uuid
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem
from apps.marks.models import FinalGrade, ReleaseBatch
from apps.reasoning.feedback.ladder import OPEN_BY_DEFAULT, TOP, WORDS_LENGTH, Asked, Rules, Track
from apps.submissions.models import SubmissionVersion

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

ADDRESS_LENGTH = 300
FAULT_LENGTH = 300
ALIAS_LENGTH = 60
REASON_LENGTH = 500


class Notice(models.Model):
    """A mail to one person that results are available. Sent once the batch can no longer be taken back; contains no result.

    A process sets `sent_at` before sending, so that only one process sends the mail, and clears it if sending fails.
    """

    batch = models.ForeignKey(ReleaseBatch, on_delete=models.CASCADE, related_name="notices")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    address = models.CharField(max_length=ADDRESS_LENGTH, help_text="The page that the mail leads to.")
    sent_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    fault = models.CharField(max_length=FAULT_LENGTH, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "person"], name="notice_once")]


class CarriedRemark(models.Model):
    """A marker's decision whether a remark that was not certainly kept still applies to a newer version."""

    grade = models.ForeignKey(FinalGrade, on_delete=models.CASCADE, related_name="carried")
    version = models.ForeignKey(SubmissionVersion, on_delete=models.CASCADE, related_name="carried")
    key = models.CharField(max_length=36, help_text="The remark's id on the grade's sheet.")
    step = models.PositiveIntegerField(help_text="The step of the newer version; 0 for the whole text.")
    holds = models.BooleanField()
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["grade", "version", "key"], name="carried_once")]


class FeedbackRules(models.Model):
    """Whether and how far students may ask for hints on a problem of a contest. Without a row they may not."""

    problem = models.OneToOneField(ContestProblem, on_delete=models.CASCADE, related_name="feedback_rules")
    is_on = models.BooleanField(default=False)
    highest = models.PositiveSmallIntegerField(default=OPEN_BY_DEFAULT)
    budget = models.PositiveSmallIntegerField(default=8)
    first_wait = models.PositiveSmallIntegerField(default=10, help_text="Minutes.")
    later_wait = models.PositiveSmallIntegerField(default=30, help_text="Minutes.")
    writer = models.CharField(max_length=ALIAS_LENGTH, blank=True, help_text="The model that proposes hints; empty for none.")
    guesser = models.CharField(max_length=ALIAS_LENGTH, blank=True, help_text="The model that tests how much hints reveal.")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(highest__lte=TOP, budget__gte=1), name="feedback_rules_ladder")]

    @property
    def rules(self) -> Rules:
        """The rules as a value of the core."""
        return Rules(highest=self.highest, budget=self.budget, first_wait=self.first_wait, later_wait=self.later_wait)


class FeedbackRequest(models.Model):
    """An author's request for feedback on a version that they handed in. `words` is their question."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.ForeignKey(SubmissionVersion, on_delete=models.CASCADE, related_name="feedback_requests")
    track = models.CharField(max_length=8, choices=[(track.value, track.value) for track in Track])
    words = models.CharField(max_length=WORDS_LENGTH, blank=True)
    at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    if TYPE_CHECKING:
        asked: RelatedManager["RungAsked"]

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["version"], condition=Q(ended_at__isnull=True), name="feedback_one_open"),
        ]


class HintOrigin(models.TextChoices):
    """Who wrote a given hint. A coach gives every hint, and every AI sentence is labelled."""

    COACH = "coach", "Written by a coach"
    MODEL = "model", "Written by AI, read and approved by a coach"
    CHANGED = "changed", "Written by AI, changed by a coach"


class RungAsked(models.Model):
    """A requested rung, with the author's answer to the previous hint and the hint that a coach gave.

    `tried` is the answer in words, `revision` a newer version handed in instead. `argues`: the words defend the author's step.
    `leaks`: leaks found in the hint that a coach confirmed, as words.
    """

    request = models.ForeignKey(FeedbackRequest, on_delete=models.CASCADE, related_name="asked")
    level = models.PositiveSmallIntegerField()
    tried = models.CharField(max_length=WORDS_LENGTH, blank=True)
    argues = models.BooleanField(default=False)
    revision = models.ForeignKey(SubmissionVersion, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    text = models.TextField(blank=True)
    author = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    origin = models.CharField(max_length=8, choices=HintOrigin, default=HintOrigin.COACH)
    given_at = models.DateTimeField(null=True, blank=True)
    leaks = models.JSONField(default=list)

    if TYPE_CHECKING:
        proposal: "HintProposal"

    class Meta:
        ordering = ["level"]
        constraints = [
            models.UniqueConstraint(fields=["request", "level"], name="rung_once"),
            models.CheckConstraint(condition=Q(level__lte=TOP), name="rung_of_the_ladder"),
            models.CheckConstraint(condition=Q(given_at__isnull=True) | ~Q(text=""), name="rung_given_has_text"),
        ]

    @property
    def value(self) -> Asked:
        """The rung as a value of the core."""
        return Asked(level=self.level, given_at=self.given_at)


class ProposalState(models.TextChoices):
    """The state of a model's proposal. It reaches a student only when a coach gives the rung."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Being written"
    READY = "ready", "To be approved"
    FAILED = "failed", "Failed"
    DECLINED = "declined", "Declined"
    GIVEN = "given", "Given"


class HintProposal(models.Model):
    """A model's proposal for a rung, for coaches only.

    `level`: the rung it was written for, the requested or a lower one. `dropped`: earlier texts with leaks, and those leaks.
    `gain`: how much closer a second model came with it; None if none was asked. `reason`: why it failed.
    """

    rung = models.OneToOneField(RungAsked, on_delete=models.CASCADE, related_name="proposal")
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    writer = models.CharField(max_length=ALIAS_LENGTH)
    guesser = models.CharField(max_length=ALIAS_LENGTH, blank=True)
    state = models.CharField(max_length=8, choices=ProposalState, default=ProposalState.QUEUED)
    text = models.TextField(blank=True)
    level = models.PositiveSmallIntegerField(null=True, blank=True)
    dropped = models.JSONField(default=list)
    gain = models.FloatField(null=True, blank=True)
    reason = models.CharField(max_length=REASON_LENGTH, blank=True)
    calls = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    asked_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["asked_at", "pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(state__in=("ready", "given")) | ~Q(text=""), name="proposal_ready_has_text"),
        ]


class PublishedRanking(models.Model):
    """A ranking that students and coaches of a contest may read, as it was when it was published.

    `body`: labels of the problems, and rows with paper key, number, rank, points, total and award. Names are not stored; the
    page reads them from the identities if `has_names`.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="rankings")
    has_names = models.BooleanField()
    body = models.JSONField()
    digest = models.CharField(max_length=64)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["contest"], condition=Q(withdrawn_at=None), name="ranking_published_once"),
        ]
