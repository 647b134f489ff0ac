"""Content of an experiment's page: progress with the time left, and cells with points of people."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.db.models import Avg, Count, F, FloatField, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Abs, Cast, Coalesce

from apps.experiments.models import (
    FAR,
    CellScore,
    CellState,
    Experiment,
    ExperimentCell,
    ExperimentState,
    SolvingCell,
    SolvingState,
)
from apps.graded_sets.models import HumanScore
from apps.marks.models import FinalGrade

_PACE_OF = 50
SORTS = {
    "position": ("position",),
    "name": ("script__name", "version__submission__paper__number"),
    "problem": ("script__problem_name", "version__submission__problem__position"),
    "grader": ("workflow", "alias"),
    "points": ("share",),
    "human": ("human",),
    "apart": ("apart",),
    "findings": ("findings",),
    "tokens": ("online",),
}
SHOWS = {
    "scored": ("scored", Q(state=CellState.SCORED)),
    "unscored": ("unscored", Q(state=CellState.UNSCORED)),
    "failed": ("failed", Q(state=CellState.FAILED)),
    "suspicious": ("suspicious content", Q(suspicious__gt=0)),
    "far": ("far from the person’s points", Q(distance__gt=FAR)),
    "open": ("not graded yet", Q(state__in=(CellState.WAITING, CellState.RUNNING))),
}


@dataclass(frozen=True)
class RowFilter:
    """Filters and order of the table. `sort` is a key of `SORTS`, with a leading minus for descending order."""

    show: str = ""
    workflow: str = ""
    alias: str = ""
    q: str = ""
    sort: str = "position"

    @property
    def is_filtered(self) -> bool:
        return any((self.show, self.workflow, self.alias, self.q))


@dataclass(frozen=True)
class Progress:
    """Numbers of cells by state, and cost for scripts and for preparation.

    `left_s`: seconds left, None if the pace is unknown.
    """

    counts: Mapping[str, int]
    total: int
    ended: int
    calls: int
    tokens: int
    prepared_calls: int
    prepared_tokens: int
    left_s: float | None

    @property
    def percent(self) -> int:
        return 100 * self.ended // self.total if self.total else 100

    @property
    def running(self) -> int:
        return self.counts.get(CellState.RUNNING, 0)

    @property
    def failed(self) -> int:
        return self.counts.get(CellState.FAILED, 0)


def progress_of(experiment: Experiment) -> Progress:
    """The progress. It reveals no results; counts by result are limited to the cells that the reader may see."""
    spent = ("calls", "tokens", "prepared_calls", "prepared_tokens")
    sums = {f"all_{name}": Sum(name) for name in spent}
    grouped = experiment.cells.order_by().values("state").annotate(cells=Count("pk"), **sums)
    found: list[dict[str, Any]] = [dict(row) for row in grouped]
    total_of = {name: sum(row[f"all_{name}"] for row in found) for name in spent}
    counts = {row["state"]: row["cells"] for row in found}
    total = sum(counts.values())
    open_ = counts.get(CellState.WAITING, 0) + counts.get(CellState.RUNNING, 0)
    return Progress(
        counts=counts,
        total=total,
        ended=total - open_,
        calls=total_of["calls"] - total_of["prepared_calls"],
        tokens=total_of["tokens"] - total_of["prepared_tokens"],
        prepared_calls=total_of["prepared_calls"],
        prepared_tokens=total_of["prepared_tokens"],
        left_s=_left(experiment, open_) if experiment.state == ExperimentState.RUNNING else None,
    )


def _left(experiment: Experiment, cells: int) -> float | None:
    """Seconds left at the pace of the newest cells since the last start. Cells without a run took no time."""
    if experiment.begun_at is None:
        return None
    ended = experiment.cells.filter(run__isnull=False, ended_at__gte=experiment.begun_at).order_by("-ended_at")
    times: list[datetime] = [at for at in ended.values_list("ended_at", flat=True)[:_PACE_OF] if at is not None]
    if not times:
        return None
    since = times[-1] if len(times) == _PACE_OF else experiment.begun_at
    took = (times[0] - since).total_seconds()
    done = len(times) - (len(times) == _PACE_OF)
    return cells * took / done if done and took > 0 else None


def filter_from(query: Mapping[str, str], experiment: Experiment) -> RowFilter:
    """Parse a filter from the query; invalid values are ignored."""
    asked = {field.name: query.get(field.name, "").replace("\0", "").strip()[:200] for field in fields(RowFilter)}
    for name, known in (("show", SHOWS), ("workflow", experiment.workflows), ("alias", experiment.aliases)):
        if asked[name] not in known:
            asked[name] = ""
    if asked["sort"].removeprefix("-") not in SORTS:
        asked["sort"] = "position"
    return RowFilter(**asked)


def rows_of(cells: QuerySet[ExperimentCell], asked: RowFilter) -> QuerySet[ExperimentCell]:
    """The filtered cells with `human`, `human_of` (people's points and scale), and `share`, `apart`, `distance` in scales."""
    cells = with_people(cells)
    if asked.show:
        cells = cells.filter(SHOWS[asked.show][1])
    if asked.workflow:
        cells = cells.filter(workflow=asked.workflow)
    if asked.alias:
        cells = cells.filter(alias=asked.alias)
    for word in asked.q.split():
        cells = cells.filter(
            Q(script__name__icontains=word)
            | Q(script__problem_name__icontains=word)
            | Q(script__author__icontains=word)
            | Q(version__submission__paper__number__iexact=word)
            | Q(version__submission__problem__label__iexact=word)
        )
    name, is_down = asked.sort.removeprefix("-"), asked.sort.startswith("-")
    order = [F(column).desc(nulls_last=True) if is_down else F(column).asc(nulls_last=True) for column in SORTS[name]]
    return cells.select_related("script", "run", "version__submission__paper", "version__submission__problem").order_by(
        *order, "position"
    )


def counts_of(cells: QuerySet[ExperimentCell]) -> dict[str, int]:
    """The number of cells for each of `SHOWS`, and of all under "", in one query."""
    counts = {f"in_{name}": Count("pk", filter=asked) for name, (_, asked) in SHOWS.items()}
    found = with_people(cells).order_by().aggregate(in_=Count("pk"), **counts)
    return {name.removeprefix("in_"): count for name, count in found.items()}


def with_people(cells: QuerySet[ExperimentCell]) -> QuerySet[ExperimentCell]:
    """Annotate the people's points: the mean of the imported ones in a set, the official grade in a contest."""
    real = FloatField()
    scores = HumanScore.objects.filter(script=OuterRef("script")).order_by().values("script")
    grades = FinalGrade.objects.filter(case__version=OuterRef("version"), superseded_by__isnull=True)
    scale = Coalesce(Cast(KeyTextTransform("scale", "scheme_version__body"), real), Value(7.0))
    return cells.annotate(
        human=Coalesce(
            Subquery(scores.annotate(mean=Avg(Cast("points", real))).values("mean"), output_field=real),
            Subquery(grades.annotate(given=Cast("points", real)).values("given")[:1], output_field=real),
        ),
        human_of=Coalesce(
            Subquery(scores.annotate(mean=Avg(Cast("out_of", real))).values("mean"), output_field=real),
            Subquery(grades.annotate(most=scale).values("most")[:1], output_field=real),
        ),
        share=Cast("points", real) / Cast("scale", real),
        apart=F("share") - F("human") / F("human_of"),
        distance=Abs("apart"),
        online=F("tokens") - F("prepared_tokens"),
    )


def columns_of(asked: RowFilter, query: Any) -> list[dict[str, str]]:
    """The sortable headings, each with the query of its other order and its `aria-sort`."""
    labels = {
        "name": "Script", "problem": "Problem", "grader": "Grader", "points": "Points", "human": "People",
        "apart": "Difference", "findings": "Findings", "tokens": "Tokens",
    }  # fmt: skip
    columns = []
    for name, label in labels.items():
        is_asked = asked.sort.removeprefix("-") == name
        is_down = is_asked and asked.sort.startswith("-")
        address = query.copy()
        address.pop("page", None)
        address["sort"] = name if is_down or not is_asked else f"-{name}"
        aria = ("descending" if is_down else "ascending") if is_asked else ""
        columns.append({"name": name, "label": label, "query": address.urlencode(), "aria": aria})
    return columns


def gradings_under_way() -> int:
    """Cells and gradings of experiments that are running."""
    found = ExperimentCell.objects.filter(state=CellState.RUNNING).count()
    found += SolvingCell.objects.filter(state=SolvingState.RUNNING).count()
    return found + CellScore.objects.filter(state=CellScore.State.RUNNING).count()


def experiments_running() -> int:
    """Experiments that start cells while there is room."""
    return Experiment.objects.filter(state=ExperimentState.RUNNING).count()
