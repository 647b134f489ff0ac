"""How far each marker of a problem is. It shows no points except the distance from calibration, and no order by merit."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, median

from django.db.models import Q

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import CLAIMED, Assignment, CaseState, FinalGrade, Mark, MarkingTask, MarkState, Slot
from apps.marks.office.statistics import MEANS_FROM


@dataclass(frozen=True)
class Distance:
    """A marker's points minus the agreed points of calibration scripts, in the order of sealing.

    `mean` is None below `MEANS_FROM` scripts; `earlier` and `later`, the halves, below twice as many.
    """

    scripts: int
    mean: float | None
    earlier: float | None
    later: float | None


@dataclass(frozen=True)
class MarkerProgress:
    """A marker of one problem. `to_do`: assigned scripts without their mark. `open_alone`: of these, only theirs.

    `pace`: scripts an hour of active time; `seconds`: median active time of a script. Both are None without a measured time.
    `distance` is None where the reader may not see points.
    """

    marker: User
    assigned: int
    to_do: int
    open_alone: int
    in_hand: int
    done: int
    pace: float | None
    seconds: float | None
    distance: Distance | None


@dataclass(frozen=True)
class ProblemProgress:
    """A problem with its markers, by name. `free`: scripts without an assignment that still wait for a mark."""

    problem: ContestProblem
    scripts: int
    free: int
    markers: list[MarkerProgress]


def progress_of(problem: ContestProblem, *, shows_points: bool) -> ProblemProgress:
    """The progress of all coaches of a problem's contest."""
    sealed: dict[int, list[float]] = {}
    marks = Mark.objects.filter(task__case__problem=problem, task__slot__in=CLAIMED, sealed_at__isnull=False)
    for marker, seconds in marks.exclude(state=MarkState.VOID).values_list("marker", "active_seconds"):
        sealed.setdefault(marker, []).append(seconds)
    done = set(MarkingTask.objects.filter(case__problem=problem, done_at__isnull=False).values_list("case", "assignee"))
    given = list(Assignment.objects.filter(case__problem=problem).values_list("case", "marker", "is_shared", "case__state"))
    waiting = [row for row in given if row[3] == CaseState.OPEN and row[:2] not in done]
    held = MarkingTask.objects.filter(case__problem=problem, done_at=None, slot__in=CLAIMED, assignee__isnull=False)
    counts = {
        "assigned": Counter(marker for _, marker, _, _ in given),
        "to_do": Counter(marker for _, marker, _, _ in waiting),
        "open_alone": Counter(marker for _, marker, shared, _ in waiting if not shared),
        "in_hand": Counter(held.values_list("assignee", flat=True)),
    }
    distances = _distances(problem) if shows_points else {}
    people = [coach.person for coach in problem.contest.coaches.select_related("person")]
    rows = [_row(person, counts, sealed.get(person.pk, []), distances, shows_points) for person in people]
    open_cases = MarkingTask.objects.filter(case__problem=problem, done_at=None, slot__in=CLAIMED)
    free = open_cases.filter(Q(case__assignments=None)).values("case").distinct().count()
    return ProblemProgress(problem, problem.cases.count(), free, rows)


def _row(
    person: User, counts: dict[str, Counter[int]], seconds: list[float], distances: dict[int, list[float]], shows_points: bool
) -> MarkerProgress:
    timed = [one for one in seconds if one > 0]
    return MarkerProgress(
        marker=person,
        **{name: count[person.pk] for name, count in counts.items()},
        done=len(seconds),
        pace=3600 * len(timed) / sum(timed) if timed else None,
        seconds=median(timed) if timed else None,
        distance=distance_of(distances.get(person.pk, [])) if shows_points else None,
    )


def distance_of(gaps: list[float]) -> Distance:
    """The distance from calibration, from the differences in the order of sealing."""
    half = len(gaps) // 2
    is_long = len(gaps) >= 2 * MEANS_FROM
    return Distance(
        scripts=len(gaps),
        mean=fmean(gaps) if len(gaps) >= MEANS_FROM else None,
        earlier=fmean(gaps[:half]) if is_long else None,
        later=fmean(gaps[-half:]) if is_long else None,
    )


def _distances(problem: ContestProblem) -> dict[int, list[float]]:
    """By marker, sealed points minus agreed points of calibration scripts, in the order of sealing."""
    marks = Mark.objects.filter(task__case__problem=problem, task__slot=Slot.CALIBRATION, sealed_points__isnull=False)
    rows = marks.exclude(state=MarkState.VOID).order_by("sealed_at", "pk").values_list("marker", "task__case", "sealed_points")
    agreed = dict(_agreed(case for _, case, _ in rows))
    found: dict[int, list[float]] = {}
    for marker, case, points in rows:
        if case in agreed and points is not None:
            found.setdefault(marker, []).append(float(points) - agreed[case])
    return found


def _agreed(cases: Iterable[int]) -> Iterable[tuple[int, float]]:
    grades = FinalGrade.objects.filter(case__in=set(cases), superseded_by=None).values_list("case", "points")
    return ((case, float(points)) for case, points in grades)
