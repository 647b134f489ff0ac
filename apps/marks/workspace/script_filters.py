"""Filters of the list of scripts: over the user's sealed marks or, for captains, over all marks on settled scripts.

| filter | marker | captain or organiser, all marks |
|---|---|---|
| middle, approach, slow, old, error | own sealed marks | sealed marks of settled scripts |
| disputed | own disputes | all open ones, by number |
| apart | own disputes in which all have claimed | settled scripts |
| gap | suggestions whose points this user was shown after sealing | settled scripts with suggestions |
| appealed | waiting appeals, except on scripts that the user is marking | the same |

The filters therefore reveal nothing new: nothing before sealing, and marks of others only to users who are not marking the
problem (`blindness`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from django.db.models import Exists, F, Max, Min, OuterRef, QuerySet

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.coordination.comparing import COUNTED, OPEN_APPEALS
from apps.marks.coordination.coordination import all_claimed, marks_of
from apps.marks.models import (
    Appeal,
    CaseState,
    Coordination,
    FinalGrade,
    Mark,
    MarkingCase,
    MarkingTask,
    MarkState,
    Reveal,
    RevealKind,
    Slot,
    Suggestion,
    SuggestionState,
)
from apps.marks.selectors import marks_sealed
from apps.marks.sheets import scheme_of
from apps.marks.workspace.claims import questions_open
from apps.marks.workspace.drafts import version_active
from apps.reasoning.marking.revealing import is_large, is_without_reveal
from apps.reasoning.marking.sheets.sealing import MIDDLE, SEVEN
from apps.reasoning.marking.sheets.sheet import Fallacy, Role
from apps.reasoning.marking.suggestion import SuggestionBody

SETTLED = (CaseState.SETTLED, CaseState.RELEASED, CaseState.APPEALED)
#: A mark is slow from this multiple of the marker's median time.
SLOW = 3
FILTERS = {
    "all": "All",
    "waiting": "Waiting for a mark",
    "sealed": "Sealed",
    "middle": "Middle points",
    "disputed": "Disputed",
    "apart": "Two or more apart",
    "gap": "Far from a suggestion",
    "approach": "New approach",
    "asked": "Asked about",
    "slow": "Slow",
    "old": "Older scheme",
    "appealed": "Appealed",
}
#: In addition to `FILTERS`: scripts with a root error of one kind.
ERROR = "error"
Cases = QuerySet[MarkingCase]


@dataclass(frozen=True)
class Choice:
    """A filter: a name of `FILTERS`, or `ERROR` with its kind. `is_everybody`: all marks, not just the user's own."""

    show: str = "all"
    fallacy: str = ""
    is_everybody: bool = False


def choice_read(show: str, fallacy: str, *, is_everybody: bool) -> Choice:
    """A choice from query parameters; unknown values show all scripts."""
    if show == ERROR and fallacy in set(Fallacy):
        return Choice(ERROR, fallacy, is_everybody)
    return Choice(show if show in FILTERS else "all", "", is_everybody)


def cases_chosen(problem: ContestProblem, user: User, choice: Choice) -> Cases:
    """The scripts of a problem that match a choice."""
    cases = MarkingCase.objects.filter(problem=problem)
    if choice.show == "all":
        return cases
    if choice.show in _OF_CASES:
        return cases.filter(pk__in=_OF_CASES[choice.show](problem, user, choice))
    marks = _of_marks(problem, marks_in_sight(problem, user, choice), choice)
    return cases.filter(pk__in=marks.values("task__case"))


def marks_in_sight(problem: ContestProblem, user: User, choice: Choice) -> QuerySet[Mark]:
    """The sealed marks that a choice covers."""
    if not choice.is_everybody:
        return marks_sealed(problem, user)
    marks = Mark.objects.filter(task__case__problem=problem, task__case__state__in=SETTLED, task__slot__in=COUNTED)
    return marks.filter(sealed_at__isnull=False).exclude(state=MarkState.VOID)


def _of_marks(problem: ContestProblem, marks: QuerySet[Mark], choice: Choice) -> QuerySet[Mark]:
    if choice.show == "middle":
        scale = _scale(marks)
        return marks.filter(points__range=(scale * MIDDLE[0] / SEVEN, scale * MIDDLE[1] / SEVEN))
    if choice.show == "approach":
        return marks.exclude(sheet__approach="")
    if choice.show == "slow":
        seconds = [value for value in marks.values_list("active_seconds", flat=True) if value > 0]
        return marks.filter(active_seconds__gt=SLOW * median(seconds)) if seconds else marks.none()
    if choice.show == "old":
        return marks.exclude(scheme_version=version_active(problem.setup))
    if choice.show == ERROR:
        # Consequences have their root elsewhere; independent errors are their own root.
        roots = (Role.ROOT.value, Role.INDEPENDENT.value)
        return marks.filter(verdicts__fallacy=choice.fallacy, verdicts__role__in=roots)
    return marks


def _waiting(problem: ContestProblem, user: User, choice: Choice) -> Iterable[int]:
    cases = MarkingCase.objects.filter(problem=problem)
    found = cases.filter(Exists(MarkingTask.objects.filter(case=OuterRef("pk"), done_at=None)))
    if not choice.is_everybody:
        found = found.exclude(pk__in=marks_sealed(problem, user).values("task__case"))
    return found.values_list("pk", flat=True)


def _asked(problem: ContestProblem, user: User, choice: Choice) -> list[int]:
    questions = questions_open().filter(task__case__problem=problem)
    questions = questions if choice.is_everybody else questions.filter(person=user)
    return list(questions.values_list("task__case", flat=True))


def _disputed(problem: ContestProblem, user: User, choice: Choice) -> list[int]:
    return list(_coordinations(problem, user, choice).filter(outcome="").values_list("case", flat=True))


def _coordinations(problem: ContestProblem, user: User, choice: Choice) -> QuerySet[Coordination]:
    rows = Coordination.objects.filter(case__problem=problem).select_related("case__problem__contest")
    return rows if choice.is_everybody else rows.filter(marks__marker=user).distinct()


def _apart(problem: ContestProblem, user: User, choice: Choice) -> list[int]:
    scale = _scale(marks_in_sight(problem, user, choice))
    if choice.is_everybody:
        rows = marks_in_sight(problem, user, choice).exclude(task__slot=Slot.AGAIN).order_by().values("task__case")
        gaps = rows.annotate(gap=Max("sealed_points") - Min("sealed_points")).values_list("task__case", "gap")
        return [case for case, gap in gaps if is_large(gap, scale)]
    found = []
    for row in _coordinations(problem, user, choice):
        points = [mark.sealed_points for mark in marks_of(row) if mark.sealed_points is not None]
        if (row.outcome or all_claimed(row)) and points and is_large(max(points) - min(points), scale):
            found.append(row.case_id)
    return found


def _gap(problem: ContestProblem, user: User, choice: Choice) -> list[int]:
    """Cases whose points are far from a grader's expected points."""
    return [case for case, points, body, scale in _pairs(problem, user, choice) if _is_far(points, body, scale)]


def _is_far(points: Decimal, body: SuggestionBody, scale: Decimal) -> bool:
    expected = body.expected_of(scale)
    return expected is not None and is_large(points - expected, scale)


def _pairs(problem: ContestProblem, user: User, choice: Choice) -> list[tuple[int, Decimal, SuggestionBody, Decimal]]:
    """Points and suggestions that this user may both see: case, points, suggestion, scale."""
    if choice.is_everybody:
        grades = FinalGrade.objects.filter(case__problem=problem, case__state__in=SETTLED, superseded_by=None)
        known = {grade.case.version_id: grade for grade in grades.select_related("case")}
        rows = Suggestion.objects.filter(version__in=known, state=SuggestionState.DONE).order_by("pk")
        setup, scale = problem.setup, _scale(marks_in_sight(problem, user, choice))
        pairs = [(known[row.version_id], row) for row in rows]
        return [
            (grade.case_id, grade.points, SuggestionBody.model_validate(row.body), scale)
            for grade, row in pairs
            if not is_without_reveal(setup.seed, str(grade.case.public_id), setup.unrevealed_percent)
        ]
    shown = Reveal.objects.filter(case__problem=problem, person=user, kind=RevealKind.ITEMS, suggestion__isnull=False)
    own = marks_sealed(problem, user).select_related("scheme_version", "task")
    marks = {mark.task.case_id: mark for mark in own.filter(task__case__in=shown.values("case")).order_by("pk")}
    return [
        (row.case_id, points, SuggestionBody.model_validate(row.suggestion.body), scheme_of(mark).scale)
        for row in shown.select_related("suggestion")
        if row.suggestion is not None and (mark := marks.get(row.case_id)) is not None and (points := mark.points) is not None
    ]


def _appealed(problem: ContestProblem, user: User, choice: Choice) -> list[int]:
    open_ones = Appeal.objects.filter(grade__case__problem=problem, state__in=OPEN_APPEALS)
    held = MarkingTask.objects.filter(case__problem=problem, assignee=user, done_at=None).exclude(slot=Slot.APPEAL)
    rows = open_ones.exclude(grade__case__in=held.values("case")).annotate(of=F("grade__case"))
    return list(rows.values_list("of", flat=True))


def _scale(marks: QuerySet[Mark]) -> Decimal:
    newest = marks.select_related("scheme_version").order_by("-pk").first()
    return scheme_of(newest).scale if newest else Decimal(SEVEN)


_OF_CASES: dict[str, Callable[[ContestProblem, User, Choice], Iterable[int]]] = {
    "waiting": _waiting,
    "asked": _asked,
    "disputed": _disputed,
    "apart": _apart,
    "gap": _gap,
    "appealed": _appealed,
}
