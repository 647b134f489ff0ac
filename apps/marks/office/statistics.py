"""Statistics of a contest's marking, over settled scripts only. They reveal nothing about unmarked scripts.

Severity and drift use sealed points, before the marker saw suggestions or a colleague's mark. They exclude marks that were made
after seeing suggestions.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean, median, pstdev

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.coordination.comparing import COUNTED
from apps.marks.models import CaseState, FinalGrade, Mark, MarkState
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.submissions.selectors import versions_to_mark

SETTLED = (CaseState.SETTLED, CaseState.RELEASED, CaseState.APPEALED)
#: Fewest scripts for which a mean is shown.
MEANS_FROM = 5


@dataclass(frozen=True)
class ItemFigures:
    """An item of the newest version: number of scripts with it, and their mean points compared with those without it."""

    code: str
    kind: str
    ticked: int
    share: float
    mean_with: float | None
    mean_without: float | None

    @property
    def difference(self) -> float | None:
        """Mean points of scripts with the item minus those without it."""
        return None if self.mean_with is None or self.mean_without is None else self.mean_with - self.mean_without


@dataclass(frozen=True)
class MarkerFigures:
    """Statistics of one marker on one problem.

    `severity`: mean of own points minus the other marks on the same scripts, negative for a stricter marker; `pairs` is their
    number. `drift`: mean residual against the problem's mean, later half minus earlier half. `seconds`: median time per script.
    """

    marker: User
    marks: int
    mean: float | None
    pairs: int
    severity: float | None
    drift: float | None
    seconds: float | None


@dataclass(frozen=True)
class TimePoint:
    """A sealed mark with its place in the marker's order and the marker's active seconds."""

    marker: str
    order: int
    seconds: float


@dataclass(frozen=True)
class ProblemFigures:
    """Statistics of one problem. `scripts`: handed in; `graded`: settled.

    `rest`: correlation of its points with the rest of the paper.
    """

    problem: ContestProblem
    scale: Decimal
    scripts: int
    graded: int
    points: Counter[Decimal]
    mean: float | None
    spread: float | None
    full: int
    zero: int
    rest: float | None
    items: list[ItemFigures]
    markers: list[MarkerFigures]
    times: list[TimePoint]

    @property
    def rows(self) -> list[tuple[Decimal, int]]:
        """Points and their number of scripts, rising."""
        return sorted(self.points.items())

    @property
    def difficulty(self) -> float | None:
        """The mean as a share of the scale; 1 is easy."""
        return None if self.mean is None else self.mean / float(self.scale)


def figures(problems: Sequence[ContestProblem]) -> list[ProblemFigures]:
    """Statistics of these problems of one contest."""
    grades = list(_grades(problems))
    totals: dict[int, dict[int, float]] = {}
    for grade in grades:
        totals.setdefault(grade.case.version.submission.paper_id, {})[grade.case.problem_id] = float(grade.points)
    return [_problem(problem, [one for one in grades if one.case.problem_id == problem.pk], totals) for problem in problems]


def _grades(problems: Sequence[ContestProblem]) -> Sequence[FinalGrade]:
    """The current grades, of the newest version of each text only."""
    if not problems:
        return []
    newest = versions_to_mark(problems[0].contest).values("pk")
    rows = FinalGrade.objects.filter(case__problem__in=problems, case__state__in=SETTLED, superseded_by=None)
    rows = rows.filter(case__version__in=newest)
    return list(rows.select_related("case__version__submission", "scheme_version").order_by("pk"))


def _problem(problem: ContestProblem, grades: list[FinalGrade], totals: dict[int, dict[int, float]]) -> ProblemFigures:
    points = [float(grade.points) for grade in grades]
    scheme = _newest(grades)
    is_enough = len(points) >= MEANS_FROM
    marks = _marks(problem)
    return ProblemFigures(
        problem=problem,
        scale=scheme.scale,
        scripts=problem.cases.filter(version__in=versions_to_mark(problem.contest).values("pk")).count(),
        graded=len(points),
        points=Counter(grade.points for grade in grades),
        mean=fmean(points) if is_enough else None,
        spread=pstdev(points) if is_enough else None,
        full=sum(grade.points == scheme.scale for grade in grades),
        zero=sum(grade.points == 0 for grade in grades),
        rest=_rest(problem, totals),
        items=_items(scheme, grades),
        markers=_markers(marks),
        times=[TimePoint(mark.marker.username, mark.order_index, mark.active_seconds) for mark in marks],
    )


def _newest(grades: list[FinalGrade]) -> Scheme:
    versions = [grade.scheme_version for grade in grades if grade.scheme_version]
    return max(versions, key=lambda one: one.number).content if versions else Scheme()


def _items(scheme: Scheme, grades: list[FinalGrade]) -> list[ItemFigures]:
    """Items by identity, so that grades under older versions count too."""
    known: dict[int, dict[str, str]] = {}
    ticked: dict[str, list[float]] = {item.lineage: [] for item in scheme.items}
    for grade in grades:
        version = grade.scheme_version
        if version is None:
            continue
        if version.pk not in known:
            known[version.pk] = {item.code: item.lineage for item in version.content.items}
        for code in MarkSheet.model_validate(grade.sheet).ticks:
            lineage = known[version.pk].get(code, "")
            if lineage in ticked:
                ticked[lineage].append(float(grade.points))
    every = [float(grade.points) for grade in grades]
    found = []
    for item in scheme.items:
        mine = ticked[item.lineage]
        others = len(every) - len(mine)
        found.append(
            ItemFigures(
                code=item.code,
                kind=item.kind.value,
                ticked=len(mine),
                share=len(mine) / len(every) if every else 0.0,
                mean_with=fmean(mine) if len(mine) >= MEANS_FROM else None,
                mean_without=(sum(every) - sum(mine)) / others if others >= MEANS_FROM else None,
            )
        )
    return found


def _marks(problem: ContestProblem) -> list[Mark]:
    """The sealed marks on settled scripts, in each marker's order."""
    rows = Mark.objects.filter(
        task__case__problem=problem, task__slot__in=COUNTED, task__case__state__in=SETTLED, sealed_points__isnull=False
    ).exclude(state__in=(MarkState.DRAFT, MarkState.VOID))
    return list(rows.select_related("marker", "task").order_by("marker__username", "order_index", "pk"))


def _markers(marks: list[Mark]) -> list[MarkerFigures]:
    own = [mark for mark in marks if not mark.is_assisted]
    by_case: dict[int, list[Mark]] = {}
    for mark in own:
        by_case.setdefault(mark.task.case_id, []).append(mark)
    mean = fmean(_sealed(mark) for mark in own) if own else 0.0
    return [_marker(marker, [one for one in own if one.marker_id == marker.pk], by_case, mean) for marker in _people(marks)]


def _marker(marker: User, mine: list[Mark], by_case: dict[int, list[Mark]], mean: float) -> MarkerFigures:
    gaps = []
    for mark in mine:
        others = [_sealed(other) for other in by_case[mark.task.case_id] if other.marker_id != marker.pk]
        if others:
            gaps.append(_sealed(mark) - fmean(others))
    residuals = [_sealed(mark) - mean for mark in mine]
    half = len(residuals) // 2
    seconds = [mark.active_seconds for mark in mine if mark.active_seconds > 0]
    is_enough = len(mine) >= MEANS_FROM
    return MarkerFigures(
        marker=marker,
        marks=len(mine),
        mean=fmean(_sealed(mark) for mark in mine) if is_enough else None,
        pairs=len(gaps),
        severity=fmean(gaps) if len(gaps) >= MEANS_FROM else None,
        drift=fmean(residuals[-half:]) - fmean(residuals[:half]) if len(mine) >= 2 * MEANS_FROM else None,
        seconds=median(seconds) if seconds else None,
    )


def _people(marks: list[Mark]) -> list[User]:
    return list({mark.marker_id: mark.marker for mark in marks}.values())


def _sealed(mark: Mark) -> float:
    assert mark.sealed_points is not None
    return float(mark.sealed_points)


def _rest(problem: ContestProblem, totals: dict[int, dict[int, float]]) -> float | None:
    """Correlation of a problem's points with the sum of the others on the same papers; None for few or constant values."""
    pairs = [
        (points[problem.pk], sum(points.values()) - points[problem.pk])
        for points in totals.values()
        if problem.pk in points and len(points) > 1
    ]
    return correlation(pairs)


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's r; None for fewer than `MEANS_FROM` pairs and for constant values."""
    if len(pairs) < MEANS_FROM:
        return None
    one, other = zip(*pairs, strict=True)
    spreads = pstdev(one) * pstdev(other)
    if spreads == 0:
        return None
    centre, centre_other = fmean(one), fmean(other)
    return float(fmean((x - centre) * (y - centre_other) for x, y in pairs) / spreads)
