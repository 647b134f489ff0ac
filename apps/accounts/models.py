"""Users, their roles and groups, API tokens, and answers that a repeated request gets again."""

import hashlib
import secrets
import uuid
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models

GROUP_NAME_LENGTH = 80
SCHOOL_LENGTH = 150


class Role(models.TextChoices):
    COACH = "coach", "Coach"
    RESEARCHER = "researcher", "Researcher"
    STUDENT = "student", "Student"


class User(AbstractUser):
    """A user. The role decides what `access` modules allow; staff also see operations pages."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    role = models.CharField(max_length=16, choices=Role, default=Role.STUDENT)

    @property
    def may_see_runs(self) -> bool:
        """Coaches and researchers see runs; students see none."""
        return self.is_active and self.role in {Role.COACH, Role.RESEARCHER}


class StudentGroup(models.Model):
    """A named group of students, such as a training camp, that can be entered for a contest as a whole."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=GROUP_NAME_LENGTH)
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="groups_made")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["made_by", "name"], name="group_name_of_maker")]

    def __str__(self) -> str:
        return self.name


class GroupMember(models.Model):
    """A student in a group, with the school that is passed to contests."""

    group = models.ForeignKey(StudentGroup, on_delete=models.CASCADE, related_name="members")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    school = models.CharField(max_length=SCHOOL_LENGTH, blank=True)

    class Meta:
        ordering = ["person__username"]
        constraints = [models.UniqueConstraint(fields=["group", "person"], name="group_member_once")]


class ApiToken(models.Model):
    """A bearer token of the HTTP API. Only its hash is kept; the token itself is shown once.

    Without `may_write` it reads only.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    may_write = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    @staticmethod
    def digest_of(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()

    @classmethod
    def issue(cls, user: User, name: str, *, may_write: bool = False) -> tuple["ApiToken", str]:
        """Create a token row; return it with the token's text, which is never stored."""
        token = f"lsc_{secrets.token_urlsafe(32)}"
        return cls.objects.create(user=user, name=name, digest=cls.digest_of(token), may_write=may_write), token


class ApiAnswer(models.Model):
    """The first answer to a writing request with an idempotency key. `digest`: of the request's method, path and body."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_answers")
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    body: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="api_answer_once")]
