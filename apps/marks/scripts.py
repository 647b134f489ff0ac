"""The list of the scripts of a problem as one marker may see it: what waits, and what they have made themselves.

Nothing of it is a colleague's: neither points nor whether two marks differ.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef, QuerySet

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.claims import questions_open
from apps.marks.models import Mark, MarkingCase, MarkingTask, MarkState
from apps.marks.selectors import marks_sealed
from apps.marks.sheets import scheme_of, sheet_of
from apps.reasoning.marking.scheme import points_text
from apps.reasoning.marking.sealing import MIDDLE, SEVEN

PER_PAGE = 100
#: A script on which somebody was so many times longer than they usually are.
SLOW = 3
FILTERS = {
    "all": "All",
    "waiting": "Waiting for a mark",
    "mine": "Sealed by me",
    "middle": "Middle points of mine",
    "approach": "New approach",
    "asked": "Asked about by me",
    "slow": "Slow ones of mine",
}


@dataclass(frozen=True)
class ScriptRow:
    """A script by its paper's number, with what this marker made of it. `task`: their own, where they have one."""

    case: MarkingCase
    task: MarkingTask | None
    state: str
    points: str = ""
    first_error: int | None = None


def script_page(
    problem: ContestProblem, user: User, shown: str, number: str | int
) -> tuple["Page[MarkingCase]", list[ScriptRow]]:
    """A page of the list, and its rows. A filter that is not known shows all."""
    cases = _filtered(MarkingCase.objects.filter(problem=problem), problem, user, shown)
    cases = cases.order_by("version__submission__paper__number", "pk").select_related("version__submission__paper")
    page = Paginator(cases.defer("version__raw", "version__source"), PER_PAGE).get_page(number)
    return page, _rows(page.object_list, user)


def _filtered(cases: QuerySet[MarkingCase], problem: ContestProblem, user: User, shown: str) -> QuerySet[MarkingCase]:
    mine = marks_sealed(problem, user)
    if shown == "waiting":
        tasks = MarkingTask.objects.filter(case=OuterRef("pk"), done_at=None)
        return cases.filter(Exists(tasks)).exclude(pk__in=mine.values("task__case"))
    if shown == "asked":
        return cases.filter(pk__in=questions_open().filter(person=user).values("task__case"))
    if shown == "approach":
        mine = mine.exclude(sheet__approach="")
    elif shown == "middle":
        mine = mine.filter(points__range=_middle(mine))
    elif shown == "slow":
        seconds = [value for value in mine.values_list("active_seconds", flat=True) if value > 0]
        mine = mine.filter(active_seconds__gt=SLOW * median(seconds)) if seconds else mine.none()
    elif shown != "mine":
        return cases
    return cases.filter(pk__in=mine.values("task__case"))


def _middle(marks: QuerySet[Mark]) -> tuple[Decimal, Decimal]:
    newest = marks.select_related("scheme_version").order_by("-pk").first()
    scale = scheme_of(newest).scale if newest else Decimal(SEVEN)
    return scale * MIDDLE[0] / SEVEN, scale * MIDDLE[1] / SEVEN


def _rows(cases: Iterable[MarkingCase], user: User) -> list[ScriptRow]:
    cases = list(cases)
    tasks = MarkingTask.objects.filter(case__in=cases, assignee=user).order_by("pk")
    own = {task.case_id: task for task in tasks.select_related("mark")}
    waiting = set(MarkingTask.objects.filter(case__in=cases, done_at=None).values_list("case", flat=True))
    return [_row(case, own.get(case.pk), case.pk in waiting) for case in cases]


def _row(case: MarkingCase, task: MarkingTask | None, is_waiting: bool) -> ScriptRow:
    mark: Mark | None = getattr(task, "mark", None)
    if mark is not None and mark.state != MarkState.DRAFT:
        points = points_text(mark.points) if mark.points is not None else ""
        return ScriptRow(case, task, f"{mark.get_state_display()} by you", points, sheet_of(mark).first_error)
    if task is not None:
        return ScriptRow(case, task, "with you")
    return ScriptRow(case, None, "waiting" if is_waiting else "marked by others")
