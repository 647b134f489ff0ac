"""Stream the results of an experiment as CSV and JSON lines. `manage.py agreement` reads both."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from apps.experiments.cells import cell_name
from apps.experiments.models import ExperimentCell
from apps.files import csv_files
from apps.graders.planning.shown import shown_of
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.graders.grader import FINAL
from apps.runs.models import RunEvent

AT_ONCE = 100
COLUMNS = (
    "paper", "problem", "author", "workflow", "view", "model", "seed", "state", "points", "scale", "unscored", "trouble",
    "human", "human_of", "findings", "suspicious", "calls", "tokens", "online_calls", "online_tokens", "prepared_calls",
    "prepared_tokens", "model_seconds", "run",
)  # fmt: skip


def csv_lines(cells: QuerySet[ExperimentCell]) -> Iterator[str]:
    """A heading and one line per cell."""
    return csv_files.csv_lines(COLUMNS, (row_of(cell) for cell in cells.iterator(chunk_size=AT_ONCE)))


def json_lines(cells: QuerySet[ExperimentCell]) -> Iterator[str]:
    """One line per cell, with the whole grading under `grading` if there is one."""
    rows = cells.iterator(chunk_size=AT_ONCE)
    while some := list(islice(rows, AT_ONCE)):
        gradings = _gradings([cell.run_id for cell in some if cell.run_id is not None])
        for cell in some:
            grading = gradings.get(cell.run_id) if cell.run_id is not None else None
            yield json.dumps({**row_of(cell), "grading": grading}, ensure_ascii=False) + "\n"


def row_of(cell: ExperimentCell) -> dict[str, Any]:
    """One cell, with `human` and `human_of` from `experiment_rows.with_people`. Points are None unless it is scored."""
    script = cell.script
    problem = script.problem_name if script else cell.version.submission.problem.label if cell.version else ""
    return {
        "paper": cell_name(cell),
        "problem": problem,
        "author": script.author if script else "",
        "workflow": cell.workflow,
        "view": shown_of(cell.run.scaffold, cell.run.spec["params"]).text if cell.run else "",
        "model": cell.alias,
        "seed": cell.run.spec.get("seed", 0) if cell.run else cell.seed,
        "state": cell.state,
        "points": _number(cell.points),
        "scale": _number(cell.scale),
        "unscored": cell.unscored,
        "trouble": cell.trouble,
        "human": getattr(cell, "human", None),
        "human_of": getattr(cell, "human_of", None),
        "findings": cell.findings,
        "suspicious": cell.suspicious,
        "calls": cell.calls,
        "tokens": cell.tokens,
        "online_calls": cell.online_calls,
        "online_tokens": cell.online_tokens,
        "prepared_calls": cell.prepared_calls,
        "prepared_tokens": cell.prepared_tokens,
        "model_seconds": round(cell.seconds, 3),
        "run": str(cell.run.public_id) if cell.run else "",
    }


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _gradings(runs: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The whole grading of each run."""
    reached = RunEvent.objects.filter(run__in=runs, kind=GradingReached.kind, body__name=FINAL).order_by("seq")
    return dict(reached.values_list("run", "body__grading"))
