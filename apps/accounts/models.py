"""People and their roles, and the tokens with which programs act for them."""

import hashlib
import secrets
import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models


class Role(models.TextChoices):
    COACH = "coach", "Coach"
    RESEARCHER = "researcher", "Researcher"
    STUDENT = "student", "Student"


class User(AbstractUser):
    """A person. The role decides what `access` modules show; staff also see operations pages."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    role = models.CharField(max_length=16, choices=Role, default=Role.STUDENT)

    @property
    def may_see_runs(self) -> bool:
        """Coaches and researchers see runs; students see none."""
        return self.is_active and self.role in {Role.COACH, Role.RESEARCHER}


class ApiToken(models.Model):
    """A bearer token of the HTTP API. Only its hash is kept; the token itself is shown once."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    @staticmethod
    def digest_of(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()

    @classmethod
    def issue(cls, user: User, name: str) -> tuple["ApiToken", str]:
        """A new token row and the token's text, which is never stored."""
        token = f"lsc_{secrets.token_urlsafe(32)}"
        return cls.objects.create(user=user, name=name, digest=cls.digest_of(token)), token
