"""What graders prepared from the references of a problem, kept so that it is made once."""

from typing import Any

from django.db import models


class PreparedPiece(models.Model):
    """A cluster list, analysis or rubric. `piece` names what it was made from; who made it is part of its identity.

    `problem` is the digest of the problem's statement: under it a grading finds what it may use.
    """

    piece = models.CharField(max_length=100)
    problem = models.CharField(max_length=64, db_index=True)
    role = models.CharField(max_length=40)
    alias = models.CharField(max_length=80)
    revision = models.CharField(max_length=200, blank=True)
    value: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["made_at", "pk"]
        constraints = [models.UniqueConstraint(fields=["piece", "role", "alias", "revision"], name="prepared_once")]
