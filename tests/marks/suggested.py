"""Suggestions for tests, with words that occur nowhere else."""

from decimal import Decimal
from typing import Any

from apps.accounts.models import User
from apps.marks.models import Mark, Suggestion
from apps.marks.sealing.revealing import finding_answer, findings_shown, stage_show
from apps.marks.suggestions.suggesting import authored_keep
from apps.reasoning.marking.revealing import Stage
from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.reasoning.marking.suggestion import Finding, PointsShare, Severity, SuggestedItem, SuggestionBody
from tests.marks.factory import ONE_PLACE, claimed, problem_to_mark, sealed

Commands = tuple[tuple[str, dict[str, Any]], ...]
SECRET = "Sesquipedalian"
SEVEN: Commands = (("claim", {"line": "A1 A2"}),)
THREE: Commands = (("claim", {"line": "A1"}), ("verdict", ONE_PLACE))
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
    """Store an authored suggestion for the script of a mark."""
    assert mark.scheme_version is not None
    return authored_keep(mark.task.case, mark.scheme_version, body)


def sealed_mark(user: User, *commands: tuple[str, dict[str, Any]], others: tuple[User, ...] = (), **choices: Any) -> Mark:
    """Return a sealed mark whose script has a suggestion."""
    problem = problem_to_mark(user, *others, scripts=1, **{"unrevealed_percent": 0, **choices})
    mark = sealed(claimed(problem, user), user, *(commands or SEVEN))
    suggested(mark)
    return mark


def answered(mark: Mark, *, is_accepted: bool = False) -> None:
    """Show both stages and answer every finding."""
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    stage_show(mark=mark, stage=Stage.FINDINGS)
    for one, _ in findings_shown(mark):
        finding_answer(mark=mark, suggestion=one.suggestion, finding=one.finding.id, is_accepted=is_accepted)
