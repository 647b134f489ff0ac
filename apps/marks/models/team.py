"""A team of markers: which scripts were assigned to whom, and whose work a marker must not mark."""

from django.db import models
from django.db.models import Q

from apps.accounts.models import StudentGroup, User
from apps.contests.models import NAME_LENGTH, Contest
from apps.marks.models.marking import MarkingCase


class Assignment(models.Model):
    """A script that a marker was asked to mark. *Mark* gives it to them first.

    `is_shared`: any free marker may take it as well. A script without a row belongs to any free marker.
    """

    case = models.ForeignKey(MarkingCase, on_delete=models.CASCADE, related_name="assignments")
    marker = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    is_shared = models.BooleanField(default=False)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["case", "marker"], name="assignment_once")]


class MarkerConflict(models.Model):
    """A coach must not mark students of a school, as written on the roster, or of a group. Claims apply it without a name."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="marker_conflicts")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    school = models.CharField(max_length=NAME_LENGTH, blank=True)
    group = models.ForeignKey(StudentGroup, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["person__username", "school", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(school="") ^ Q(group=None), name="conflict_school_or_group"),
            models.UniqueConstraint(
                fields=["contest", "person", "school"], condition=Q(group=None), name="conflict_school_once"
            ),
            models.UniqueConstraint(fields=["contest", "person", "group"], condition=Q(school=""), name="conflict_group_once"),
        ]
