"""Schemes that models wrote for a problem, their try-outs, and texts of benchmark sets."""

from django.db import models

from apps.accounts.models import User
from apps.graded_sets.models import GradedScript
from apps.runs.models import Run
from apps.schemes.models import MarkingScheme


class SchemeProposal(models.Model):
    """A scheme written by a run and approved by a person as a draft of the problem. `text`: the approved text."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="proposal")
    scheme = models.ForeignKey(MarkingScheme, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField()
    approved_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    approved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "grading_schemeproposal"

    def __str__(self) -> str:
        return str(self.run)


class SchemeTryout(models.Model):
    """A text graded with a proposed scheme before approval. `digest`: of the scheme used."""

    writer = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="tryouts")
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="+")
    label = models.CharField(max_length=200)
    script = models.ForeignKey(GradedScript, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    digest = models.CharField(max_length=64)

    class Meta:
        db_table = "grading_schemetryout"
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.label


class BenchmarkText(models.Model):
    """A problem of a benchmark set, to be excluded from training collections."""

    collection = models.CharField(max_length=80)
    name = models.CharField(max_length=120)
    text = models.TextField()
    loaded_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "grading_benchmarktext"
        ordering = ["collection", "name"]
        constraints = [models.UniqueConstraint(fields=["collection", "name"], name="benchmark_text_once")]

    def __str__(self) -> str:
        return f"{self.collection}: {self.name}"
