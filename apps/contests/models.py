"""Contests, papers and identities.

Only `Identity` links a paper to a person, and only `access` reads it. The number and public id of a paper reveal neither its
author nor its time.
"""

import secrets
import uuid
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from django.db import models
from django.db.models import F, Q

from apps.accounts.models import User
from apps.problems.models import Problem, ProblemVersion
from apps.ui.zones import zone_of

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

TITLE_LENGTH = 120
LABEL_LENGTH = 20
NAME_LENGTH = 150
EXTERNAL_LENGTH = 100
REASON_LENGTH = 500
ZONE_LENGTH = 64
#: The recorded reason for opening all identities at once.
AFTER_SIGN_OFF = "All identities, after sign-off"
# Without vowels, to avoid words, and without look-alike characters.
_CHARACTERS = "BCDFGHJKLMNPQRSTVWXZ23456789"
NUMBER_SIGNS = 6


def paper_number_random() -> str:
    """Draw a random paper number, which reveals no order."""
    return "".join(secrets.choice(_CHARACTERS) for _ in range(NUMBER_SIGNS))


class ContestState(models.TextChoices):
    """States of a contest. Students write in an open contest within its time window; coaches read papers from marking on.
    Only staff can list and restore a deleted contest, which never contained a text."""

    PREPARING = "preparing", "In preparation"
    OPEN = "open", "Open"
    MARKING = "marking", "Being marked"
    CLOSED = "closed", "Closed"
    DELETED = "deleted", "Deleted"


class ContestKind(models.TextChoices):
    """What is handed in for. A contest is marked. On a sheet, coaches answer while it is open. Practice belongs to one person:
    it has one paper and no coaches, and is in no list of contests (adr/0043)."""

    CONTEST = "contest", "Contest"
    SHEET = "sheet", "Training sheet"
    PRACTICE = "practice", "Practice"


class PointStep(models.TextChoices):
    """The unit of points in a contest."""

    WHOLE = "1", "whole points"
    HALF = "0.5", "half points"


class Contest(models.Model):
    """A contest, a sheet of training problems, or one person's practice. `row_version` counts changes of settings and state.

    `shows_problems`: staff show its problems in the library in every state. Sheets and practice never hide theirs.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    title = models.CharField(max_length=TITLE_LENGTH)
    kind = models.CharField(max_length=8, choices=ContestKind, default=ContestKind.CONTEST, db_default=ContestKind.CONTEST)
    state = models.CharField(max_length=10, choices=ContestState, default=ContestState.PREPARING)
    opens_at = models.DateTimeField(null=True, blank=True, help_text="Empty: as soon as it is opened.")
    closes_at = models.DateTimeField(null=True, blank=True, help_text="Empty: until marking begins.")
    time_zone = models.CharField(
        max_length=ZONE_LENGTH, blank=True, default="", db_default="", help_text="Empty: the zone of the server."
    )
    is_anonymous = models.BooleanField(default=True)
    point_step = models.CharField(max_length=4, choices=PointStep, default=PointStep.WHOLE)
    shows_problems = models.BooleanField(default=False, db_default=False)
    row_version = models.PositiveIntegerField(default=1)
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    if TYPE_CHECKING:
        problems: RelatedManager["ContestProblem"]
        coaches: RelatedManager["ContestCoach"]
        papers: RelatedManager["Paper"]
        identities: RelatedManager["Identity"]

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(opens_at__isnull=True) | Q(closes_at__isnull=True) | Q(opens_at__lt=F("closes_at")),
                name="contest_opens_before_it_closes",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def zone(self) -> ZoneInfo:
        """The time zone in which people read its times."""
        return zone_of(self.time_zone)


class ContestProblem(models.Model):
    """A problem of a contest under its label ("1", "A2"). Students read `version`, fixed to the newest when it opens.

    `opens_at`, `closes_at`: its own times on a sheet, within those of the sheet. Students see it from its opening on.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="problems")
    problem = models.ForeignKey(Problem, on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey(ProblemVersion, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=LABEL_LENGTH)
    captain = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.CheckConstraint(
                condition=Q(opens_at__isnull=True) | Q(closes_at__isnull=True) | Q(opens_at__lt=F("closes_at")),
                name="contest_problem_opens_before_it_closes",
            ),
            models.UniqueConstraint(fields=["contest", "position"], name="contest_problem_position"),
            models.UniqueConstraint(fields=["contest", "problem"], name="contest_problem_once"),
            models.UniqueConstraint(fields=["contest", "label"], name="contest_problem_label"),
        ]

    def __str__(self) -> str:
        return f"{self.label}: {self.problem.title}"

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of its contest."""
        return self.contest.zone


class ContestCoach(models.Model):
    """A coach of a contest. An organiser may also change it; `may_reveal` is the permission to open identities."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="coaches")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="coached")
    is_organiser = models.BooleanField(default=False)
    may_reveal = models.BooleanField(default=False)

    class Meta:
        ordering = ["person__username"]
        constraints = [models.UniqueConstraint(fields=["contest", "person"], name="contest_coach_once")]

    def __str__(self) -> str:
        return self.person.username


class Paper(models.Model):
    """Everything that one author hands in at one contest, identified by a random number."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="papers")
    number = models.CharField(max_length=NUMBER_SIGNS, default=paper_number_random)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["contest", "number"], name="paper_number")]

    def __str__(self) -> str:
        return self.number


class AuthorKind(models.TextChoices):
    """Kind of author; as secret as the name during marking."""

    STUDENT = "student", "Student"
    MODEL = "model", "Model"


class Identity(models.Model):
    """The author of a paper. Read it only through `access`: as own paper, as roster without numbers, or opened."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="identities")
    paper = models.OneToOneField(Paper, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=NAME_LENGTH)
    school = models.CharField(max_length=NAME_LENGTH, blank=True)
    external_id = models.CharField(
        max_length=EXTERNAL_LENGTH, blank=True, default="", db_default="", help_text="What another system calls the author."
    )
    kind = models.CharField(max_length=8, choices=AuthorKind, default=AuthorKind.STUDENT)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["contest", "person"], name="identity_person_once"),
            models.UniqueConstraint(fields=["contest", "name"], condition=Q(person=None), name="identity_name_once"),
        ]


class IdentityReveal(models.Model):
    """The record of one opened identity. Never changed, and kept as long as its paper exists."""

    paper = models.ForeignKey(Paper, on_delete=models.CASCADE, related_name="reveals")
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    reason = models.CharField(max_length=REASON_LENGTH)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]
