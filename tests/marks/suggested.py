"""Suggestions for the tests, in words that stand nowhere else."""

from decimal import Decimal

from apps.marks.models import Mark, Suggestion
from apps.marks.suggesting import authored_keep
from apps.reasoning.marking.sheet import Fallacy
from apps.reasoning.marking.suggestion import Finding, PointsShare, Severity, SuggestedItem, SuggestionBody

SECRET = "Sesquipedalian"
BODY = SuggestionBody(
    findings=(
        Finding(id="f1", step=1, fallacy=Fallacy.CIRCULAR, severity=Severity.CRITICAL, words=f"{SECRET} one: assumes it."),
        Finding(id="f2", step=2, fallacy=Fallacy.CASE, words=f"{SECRET} two: claims $p = 2$ needs nothing."),
    ),
    items=(SuggestedItem(code="A1", reason=f"{SECRET} three."),),
    distribution=(PointsShare(points=Decimal(3), share=0.8), PointsShare(points=Decimal(5), share=0.2)),
    remarks=f"{SECRET} four.",
)


def suggested(mark: Mark, body: SuggestionBody = BODY) -> Suggestion:
    """The suggestion beside a mark, as somebody wrote it."""
    assert mark.scheme_version is not None
    return authored_keep(mark.task.case, mark.scheme_version, body)
