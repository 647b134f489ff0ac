"""Texts of certificates and letters that an organiser changed."""

from django.db import models

from apps.accounts.models import User
from apps.contests.models import Contest

HEADING_LENGTH = 120
TEXT_LENGTH = 4_000


class PrintedKind(models.TextChoices):
    """What is printed for a student."""

    CERTIFICATE = "certificate", "Certificate"
    LETTER = "letter", "Letter"


class PrintedText(models.Model):
    """The changed text of a contest's certificates or letters; without a row the usual text applies."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="printed_texts")
    kind = models.CharField(max_length=12, choices=PrintedKind)
    heading = models.CharField(max_length=HEADING_LENGTH, blank=True)
    text = models.TextField()
    row_version = models.PositiveIntegerField(default=1)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["contest", "kind"], name="printed_text_once")]
