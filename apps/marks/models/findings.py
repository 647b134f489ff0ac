"""Suggestions of graders, and the ledger of reveals. Nothing here can become a grade, because no grade links to it."""

import uuid

from django.db import models

from apps.accounts.models import User
from apps.marks.models.marking import Mark, MarkingCase
from apps.schemes.models import SchemeVersion
from apps.submissions.models import Submission, SubmissionVersion

DIGEST_LENGTH = 64


class SuggestionState(models.TextChoices):
    """The state of a suggestion. Stale: made for another meaning of the scheme or another text."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    STALE = "stale", "Stale"


class Suggestion(models.Model):
    """A grader's output on one version of a script.

    `body`: findings by step, items with reasons, distribution of points, remarks (`apps.reasoning.marking.suggestion`). `key`:
    digest of text, meaning of the scheme, grader and prompts, so that the same question is asked once. `lease_until`: renewed
    by the worker; an expired one was lost with its process.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.ForeignKey(SubmissionVersion, on_delete=models.CASCADE, related_name="suggestions")
    scheme_version = models.ForeignKey(SchemeVersion, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    grader = models.CharField(max_length=120)
    key = models.CharField(max_length=DIGEST_LENGTH, unique=True)
    state = models.CharField(max_length=10, choices=SuggestionState, default=SuggestionState.QUEUED)
    reason = models.CharField(max_length=500, blank=True, help_text="Why it failed, in words.")
    body = models.JSONField(default=dict)
    run = models.UUIDField(null=True, blank=True, help_text="The public id of the run that made it.")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at", "pk"]


class RevealKind(models.TextChoices):
    """What was shown: the stages in order, a colleague's mark, and other statements about a script."""

    LOCATIONS = "locations", "Where findings are"
    FINDINGS = "findings", "Types and reasons"
    ITEMS = "items", "Items and distribution"
    COLLEAGUE = "colleague", "A colleague's mark"
    PRECEDENTS = "precedents", "Precedents"
    QUESTION = "question", "A marker's question"
    HINTS = "hints", "Hints for its author"


class Reveal(models.Model):
    """A record that a user was shown something about a case. Never changed or deleted."""

    case = models.ForeignKey(MarkingCase, on_delete=models.CASCADE, related_name="reveals")
    person = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    kind = models.CharField(max_length=12, choices=RevealKind)
    suggestion = models.ForeignKey(Suggestion, null=True, blank=True, on_delete=models.RESTRICT, related_name="reveals")
    mark = models.ForeignKey(Mark, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    trigger = models.CharField(max_length=40)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]
        indexes = [models.Index(fields=["case", "person"], name="reveal_of_person")]


class EarlyReveal(models.Model):
    """A record that a user was shown something about a text before marking. Never changed; part of the ledger of its cases.

    It does not exclude the user from marking the text, because coaches read students' questions. Their mark is then neither
    fresh nor independent.
    """

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="early_reveals")
    person = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    kind = models.CharField(max_length=12, choices=RevealKind)
    trigger = models.CharField(max_length=40)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]
        constraints = [models.UniqueConstraint(fields=["submission", "person", "kind"], name="early_reveal_once")]


class FindingAnswer(models.Model):
    """A marker's answer to one finding. Findings are answered one by one."""

    suggestion = models.ForeignKey(Suggestion, on_delete=models.CASCADE, related_name="answers")
    person = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    finding = models.CharField(max_length=36)
    is_accepted = models.BooleanField()
    seconds = models.FloatField(default=0, help_text="Between showing and answering.")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["suggestion", "person", "finding"], name="finding_answer_once")]
