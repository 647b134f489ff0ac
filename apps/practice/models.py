"""What a student has besides their texts: the state of an attempt, hints taken, questions, remarks and replies.

No table here names the author of a text. A remark is never a mark.
"""

import uuid
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest
from apps.submissions.models import Submission, SubmissionVersion

if TYPE_CHECKING:
    pass

WORDS_LENGTH = 4_000
SHORT_LENGTH = 500
ALIAS_LENGTH = 60
NAME_LENGTH = 60
TAIL_LENGTH = 60
TOP_HINT = 2


class SolutionAt(models.TextChoices):
    """When a student may compare with a solution."""

    ATTEMPT = "attempt", "after an own attempt"
    END = "end", "when the sheet is closed"
    NEVER = "never", "never"


class HelpRules(models.Model):
    """The help that a sheet allows. A sheet without a row has the defaults. `model` writes remarks; empty for none.

    `hint_wait`: minutes between two hints.
    """

    contest = models.OneToOneField(Contest, on_delete=models.CASCADE, related_name="help_rules")
    checks_formulas = models.BooleanField(default=True)
    asks_coaches = models.BooleanField(default=True)
    gives_hints = models.BooleanField(default=True)
    solution_at = models.CharField(max_length=8, choices=SolutionAt, default=SolutionAt.END)
    model = models.CharField(max_length=ALIAS_LENGTH, blank=True)
    hint_wait = models.PositiveSmallIntegerField(default=3)


class Attempt(models.Model):
    """What a student decided about their work on a problem. `returns_at`: when a problem that was set aside comes back.

    `times_aside`: how often it was set aside. `shown`: steps of a solution that the student has seen. `may_be_example`: the
    student lets their coaches show the text to others without a name. `seen_at`: when they last opened it.
    """

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="attempt")
    done_at = models.DateTimeField(null=True, blank=True)
    aside_at = models.DateTimeField(null=True, blank=True)
    returns_at = models.DateTimeField(null=True, blank=True)
    times_aside = models.PositiveSmallIntegerField(default=0)
    compared_at = models.DateTimeField(null=True, blank=True)
    shown = models.PositiveSmallIntegerField(default=0)
    may_be_example = models.BooleanField(default=False)
    seen_at = models.DateTimeField(null=True, blank=True)


class SharedText(models.Model):
    """A text that its student shares with a coach; with every coach if `coach` is None, and then without the name.

    Made with a question, a disagreement or a claim, for the coaches whom the page named then. A withdrawn question ends it,
    and its student can end all of them.
    """

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="shares")
    coach = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    question = models.ForeignKey("Question", null=True, on_delete=models.CASCADE, related_name="shares")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["coach", "submission"], name="share_of_coach")]


class ModelUse(models.Model):
    """Calls to models for one person on one day, waiting requests included. Kept when the practice is erased."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    calls = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "day"], name="model_use_once")]


class HintTaken(models.Model):
    """A hint of the problem that the student took, after they explained where they are (`explanation`).

    `step`: the step of their text that it belongs to; 0 for the end. `text`: the hint as it was then.
    """

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="hints_taken")
    level = models.PositiveSmallIntegerField()
    step = models.PositiveIntegerField(default=0)
    explanation = models.CharField(max_length=SHORT_LENGTH)
    text = models.TextField()
    tail = models.CharField(max_length=TAIL_LENGTH, blank=True, help_text="The end of the step, to find it in the draft.")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["level"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "level"], name="hint_taken_once"),
            models.CheckConstraint(condition=Q(level__lte=TOP_HINT), name="hint_taken_of_three"),
        ]


class Outcome(models.TextChoices):
    """A coach's answer in a word. It is no mark: nothing is added up."""

    COMPLETE = "complete", "The proof is complete"
    NEARLY = "nearly", "Nearly: small repairs"
    NOT_YET = "not_yet", "Not yet a proof"


class Question(models.Model):
    """A student's question about a version, answered once. `step`: 0 for the whole text."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.ForeignKey(SubmissionVersion, on_delete=models.CASCADE, related_name="questions")
    step = models.PositiveIntegerField(default=0)
    words = models.CharField(max_length=SHORT_LENGTH)
    asked_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    outcome = models.CharField(max_length=8, choices=Outcome, blank=True)
    answer = models.TextField(blank=True)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["asked_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["version"], condition=Q(withdrawn_at=None, answered_at=None), name="question_one_open"
            ),
        ]


class RequestState(models.TextChoices):
    """The state of a request for remarks of a model."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Being read"
    DONE = "done", "Answered"
    SILENT = "silent", "Nothing to show"
    FAILED = "failed", "Failed"


class RemarkRequest(models.Model):
    """A request that a model reads a version. `reason`: why it is silent or failed, in words for the student.

    `votes`: what each vote said, for staff.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.OneToOneField(SubmissionVersion, on_delete=models.CASCADE, related_name="remark_request")
    alias = models.CharField(max_length=ALIAS_LENGTH)
    state = models.CharField(max_length=8, choices=RequestState, default=RequestState.QUEUED)
    reason = models.CharField(max_length=SHORT_LENGTH, blank=True)
    votes = models.JSONField(default=list)
    calls = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    asked_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["asked_at", "pk"]


class RemarkOrigin(models.TextChoices):
    """Who made a remark."""

    COACH = "coach", "Coach"
    MODEL = "model", "AI, unchecked, may be wrong"
    FORMULA = "formula", "Formula check"


class Judgement(models.TextChoices):
    """A coach's judgement of a model's remark, for the figures of staff."""

    RIGHT = "right", "Right"
    WRONG = "wrong", "Wrong"


class Remark(models.Model):
    """Words at a step of a version; step 0 is the whole text. `kind`: the type of the error (`Fallacy`), or empty.

    `grants`: the coach takes the step as given. `pointer`: the model's question. `stage`: what the student has opened of a
    model's remark: 1 the place, 2 the question, 3 the reason. `reference_step`: the step of the reference solution that is
    missing or wrong here; 0 for none.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.ForeignKey(SubmissionVersion, on_delete=models.CASCADE, related_name="remarks")
    origin = models.CharField(max_length=8, choices=RemarkOrigin)
    step = models.PositiveIntegerField(default=0)
    kind = models.CharField(max_length=40, blank=True)
    grants = models.BooleanField(default=False)
    words = models.TextField(blank=True)
    pointer = models.TextField(blank=True)
    stage = models.PositiveSmallIntegerField(default=3)
    reference_step = models.PositiveSmallIntegerField(default=0)
    alias = models.CharField(max_length=ALIAS_LENGTH, blank=True)
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    judged = models.CharField(max_length=8, choices=Judgement, blank=True)
    judged_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    if TYPE_CHECKING:
        disagreement: "Disagreement"
        settlement: "Settlement"

    class Meta:
        ordering = ["step", "pk"]


class Disagreement(models.Model):
    """A student's objection to a remark, and a coach's reply. `is_upheld`: the student is right."""

    remark = models.OneToOneField(Remark, on_delete=models.CASCADE, related_name="disagreement")
    words = models.CharField(max_length=SHORT_LENGTH)
    at = models.DateTimeField(auto_now_add=True)
    is_upheld = models.BooleanField(null=True, blank=True)
    reply = models.CharField(max_length=SHORT_LENGTH, blank=True)
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    replied_at = models.DateTimeField(null=True, blank=True)


class Settlement(models.Model):
    """The student's claim that a newer version settles a remark, and its confirmation by a coach or by the formula check.

    `holds` is None until then; `by` is None if the formula check confirmed it.
    """

    remark = models.OneToOneField(Remark, on_delete=models.CASCADE, related_name="settlement")
    version = models.ForeignKey(SubmissionVersion, on_delete=models.CASCADE, related_name="settlements")
    at = models.DateTimeField(auto_now_add=True)
    holds = models.BooleanField(null=True, blank=True)
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)


class Example(models.Model):
    """A text that coaches show to students who tried the same problem. It names no author."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.OneToOneField(SubmissionVersion, on_delete=models.CASCADE, related_name="example")
    title = models.CharField(max_length=NAME_LENGTH)
    words = models.CharField(max_length=SHORT_LENGTH, blank=True)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]


class AnswerPhrase(models.Model):
    """A coach's sentence for answers, to insert with one key."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="answer_phrases")
    words = models.CharField(max_length=SHORT_LENGTH)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "pk"]
