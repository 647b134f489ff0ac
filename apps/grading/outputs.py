"""The output of `manage.py grade`: one JSON object a script, as `manage.py agreement` takes it."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from apps.grading.call_files import lines_kept
from apps.grading.kept_columns import beside, names_beside, renamed
from apps.grading.running import Done
from apps.problems.importing.files import FileWrong
from apps.reasoning.marking.span_markup import markup_write, places_of
from apps.reasoning.texts.source import source_of

#: What a row holds besides the columns that a person keeps.
COLUMNS = (
    "paper", "problem", "workflow", "view", "models", "points", "scale", "unscored", "distribution", "items", "findings",
    "markup", "chains", "feedback", "remarks", "suspicious", "raw", "calls", "prompt_tokens", "completion_tokens", "prepared",
    "model_seconds", "pieces_reused", "run",
)  # fmt: skip


def row_of(done: Done, workflow: str, view: str, models: dict[str, str]) -> dict[str, Any]:
    """A script as a row. `points` is null exactly where `unscored` says why; `view` is a `ViewShown.text`.

    Kept columns have their own names and values; a column of ours with such a name is called otherwise (`kept_columns`).
    """
    return beside(done.job.kept, _ours(done, workflow, view, models))


def _ours(done: Done, workflow: str, view: str, models: dict[str, str]) -> dict[str, Any]:
    grading = done.grading
    return {
        "paper": done.job.paper,
        "problem": done.job.problem.id,
        "workflow": workflow,
        "view": view,
        "models": models,
        "points": float(grading.points) if grading.points is not None else None,
        "scale": float(grading.scale),
        "unscored": grading.unscored,
        "distribution": [{"points": float(points), "share": share} for points, share in grading.shares.items()],
        "items": [item.model_dump(mode="json") for item in grading.items],
        "findings": [finding.model_dump(mode="json", exclude_none=True) for finding in grading.findings],
        "markup": markup_write(source_of(done.job.material["script"]), places_of(grading.findings)),
        "chains": [chain.model_dump(mode="json") for chain in grading.chains],
        "feedback": grading.feedback,
        "remarks": grading.remarks,
        "suspicious": list(grading.suspicious),
        "raw": grading.raw,
        "calls": done.spent.total.calls,
        "prompt_tokens": done.spent.total.prompt_tokens,
        "completion_tokens": done.spent.total.completion_tokens,
        "prepared": done.spent.prepared.model_dump(),
        "model_seconds": round(done.seconds, 3),
        "pieces_reused": done.reused,
        "run": done.run,
    }


def runs_in(path: Path, kept: Collection[str] = ()) -> frozenset[str]:
    """The gradings that an output with these kept columns holds. Raises `FileWrong` for a file that is something else."""
    names = names_beside(COLUMNS, kept)
    runs = []
    for number, line in enumerate(lines_kept(path), 1):
        where = f"{path.name}, line {number}"
        try:
            row = json.loads(line)
            if missing := [name for name in renamed(names).values() if name not in row]:
                raise FileWrong(
                    f"{where}: there is no column “{missing[0]}”, so these rows were written with other kept columns. "
                    f"Choose another --out. A copy of {path.name}.calls beside it saves the calls that are recorded."
                )
            runs.append(str(row[names["run"]]))
        except (ValueError, KeyError, TypeError) as error:
            raise FileWrong(f"{where}: this is no output of a grading; choose another file.") from error
    return frozenset(runs)
