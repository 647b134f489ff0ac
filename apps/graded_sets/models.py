"""Published scripts with points by people, imported to measure graders.

To pair people with graders: `HumanScore` holds the points of a person for a `GradedScript`, `ExperimentCell`
(`apps.experiments`) those of a grader. Both refer to the script; compare `points / out_of` with `points / scale`. As these
scripts are not marked here, everyone who may see gradings may see their results. Scripts of contests are stored elsewhere:
their people's points are sealed marks, or `ForeignJudgement` in an imported contest.
"""

import uuid
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from apps.contests.models import AuthorKind
from apps.problems.models import ProblemVersion

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

NAME_LENGTH = 150
POINTS: dict[str, Any] = {"max_digits": 6, "decimal_places": 2}

TITLE_LENGTH = 120


class GradedSet(models.Model):
    """An imported file of scripts. `digest`: of the file, so that importing it again gives the same set.

    `left_out`: skipped parts of the file, as pairs of place and reason.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    title = models.CharField(max_length=TITLE_LENGTH)
    shape = models.CharField(max_length=40)
    credit = models.CharField(max_length=200)
    licence = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    left_out: "models.JSONField[list[list[str]], list[list[str]]]" = models.JSONField(default=list)
    imported_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    if TYPE_CHECKING:
        scripts: RelatedManager["GradedScript"]

    class Meta:
        db_table = "grading_gradedset"
        ordering = ["title", "pk"]

    def __str__(self) -> str:
        return self.title


class GradedScript(models.Model):
    """A script of a set. `text` is a source (`texts.source`), empty if only points were published.

    `problem` is None if no statement is known; such a script cannot be graded, nor can one without text. `issues`: imported
    findings, dicts with `words`, `category`, `quote`, `start` and `end` in `text`; without a valid position `start` is None
    and `lost` gives the reason. `author_kind` is empty if unknown.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    graded_set = models.ForeignKey(GradedSet, on_delete=models.CASCADE, related_name="scripts")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=NAME_LENGTH)
    problem = models.ForeignKey(ProblemVersion, null=True, on_delete=models.PROTECT, related_name="+")
    problem_name = models.CharField(max_length=NAME_LENGTH)
    author = models.CharField(max_length=NAME_LENGTH, blank=True)
    author_kind = models.CharField(max_length=8, choices=AuthorKind, default=AuthorKind.MODEL)
    text = models.TextField(blank=True)
    digest = models.CharField(max_length=64, help_text="sha-256 of the text, in hex.")
    issues: "models.JSONField[list[dict[str, Any]], list[dict[str, Any]]]" = models.JSONField(default=list)

    if TYPE_CHECKING:
        human_scores: RelatedManager["HumanScore"]

    class Meta:
        db_table = "grading_gradedscript"
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["graded_set", "position"], name="graded_script_position"),
            models.UniqueConstraint(fields=["graded_set", "name"], name="graded_script_name"),
        ]

    def __str__(self) -> str:
        return self.name


class HumanScore(models.Model):
    """Imported points of a person for a script, independent of our graders. `rater`: the person's name in the source.

    One row per rater. It is no `Mark`, as it was not given here and leads to no grade.
    """

    script = models.ForeignKey(GradedScript, on_delete=models.CASCADE, related_name="human_scores")
    rater = models.CharField(max_length=NAME_LENGTH)
    points = models.DecimalField(**POINTS)
    out_of = models.DecimalField(**POINTS)
    words = models.TextField(blank=True)

    class Meta:
        db_table = "grading_humanscore"
        ordering = ["rater", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["script", "rater"], name="human_score_once"),
            models.CheckConstraint(
                condition=Q(points__gte=0) & Q(points__lte=F("out_of")) & Q(out_of__gt=0), name="human_score_on_its_scale"
            ),
        ]
