"""The list of scripts of a problem for one marker: waiting scripts and their own marks.

Captains and organisers who are not marking the problem may list all scripts, with points of settled ones only. Filters are in
`script_filters`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.core.paginator import Page, Paginator

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import FinalGrade, Mark, MarkingCase, MarkingTask, MarkState
from apps.marks.sheets import sheet_of
from apps.marks.workspace.script_filters import SETTLED, Choice, cases_chosen
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.sheets.sheet import MarkSheet

PER_PAGE = 100


@dataclass(frozen=True)
class ScriptRow:
    """A script by paper number, with this marker's result. `task`: their own task, if any."""

    case: MarkingCase
    task: MarkingTask | None
    state: str
    points: str = ""
    first_error: int | None = None


def script_page(
    problem: ContestProblem, user: User, choice: Choice, number: str | int
) -> tuple["Page[MarkingCase]", list[ScriptRow]]:
    """A page of the list with its rows."""
    cases = cases_chosen(problem, user, choice).select_related("version__submission__paper")
    cases = cases.order_by("version__submission__paper__number", "pk")
    page = Paginator(cases.defer("version__raw", "version__source"), PER_PAGE).get_page(number)
    rows = list(page.object_list)
    return page, _rows_settled(rows, user) if choice.is_everybody else _rows(rows, user)


def _rows(cases: list[MarkingCase], user: User) -> list[ScriptRow]:
    own = _tasks_own(cases, user)
    waiting = _waiting(cases)
    return [_row(case, own.get(case.pk), case.pk in waiting) for case in cases]


def _row(case: MarkingCase, task: MarkingTask | None, is_waiting: bool) -> ScriptRow:
    mark: Mark | None = getattr(task, "mark", None)
    if mark is not None and mark.state != MarkState.DRAFT:
        points = points_text(mark.points) if mark.points is not None else ""
        return ScriptRow(case, task, f"{mark.get_state_display()} by you", points, sheet_of(mark).first_error)
    if task is not None:
        return ScriptRow(case, task, "with you")
    return ScriptRow(case, None, "waiting" if is_waiting else "marked by others")


def _rows_settled(cases: list[MarkingCase], user: User) -> list[ScriptRow]:
    """The rows of all scripts, with the grades of settled ones."""
    grades = FinalGrade.objects.filter(case__in=cases, case__state__in=SETTLED, superseded_by=None)
    current = {grade.case_id: grade for grade in grades}
    own, waiting = _tasks_own(cases, user), _waiting(cases)
    rows = []
    for case in cases:
        grade = current.get(case.pk)
        if grade is None:
            rows.append(ScriptRow(case, own.get(case.pk), "waiting" if case.pk in waiting else "not settled"))
            continue
        sheet = MarkSheet.model_validate(grade.sheet)
        state = case.get_state_display().lower()
        rows.append(ScriptRow(case, own.get(case.pk), state, points_text(grade.points), sheet.first_error))
    return rows


def _tasks_own(cases: Iterable[MarkingCase], user: User) -> dict[int, MarkingTask]:
    tasks = MarkingTask.objects.filter(case__in=cases, assignee=user).order_by("pk")
    return {task.case_id: task for task in tasks.select_related("mark")}


def _waiting(cases: Iterable[MarkingCase]) -> set[int]:
    return set(MarkingTask.objects.filter(case__in=cases, done_at=None).values_list("case", flat=True))
