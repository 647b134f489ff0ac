"""The output of `manage.py grade`: one JSON object per script, readable by `manage.py agreement`."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from apps.files.kept_columns import merged, output_names, renamed
from apps.files.tables import FileWrong
from apps.graders.batches.call_files import lines_kept
from apps.graders.batches.running import Done
from apps.reasoning.marking.span_markup import markup_write, places_of
from apps.reasoning.texts.source import source_of

#: Our columns, in addition to those that a user keeps.
COLUMNS = (
    "paper", "problem", "workflow", "view", "models", "points", "scale", "unscored", "distribution", "items", "findings",
    "markup", "chains", "feedback", "remarks", "suspicious", "raw", "calls", "prompt_tokens", "completion_tokens", "prepared",
    "model_seconds", "pieces_reused", "run",
)  # fmt: skip


def row_of(done: Done, workflow: str, view: str, models: dict[str, str]) -> dict[str, Any]:
    """A script as a row. `points` is null exactly if `unscored` gives a reason; `view` is a `ViewShown.text`.

    Kept columns have their names and values; our columns are renamed on a clash (`kept_columns`).
    """
    return merged(done.job.kept, _ours(done, workflow, view, models))


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
    """The gradings in an output with these kept columns. Raises `FileWrong` for any other file."""
    names = output_names(COLUMNS, kept)
    runs = []
    for number, line in enumerate(lines_kept(path), 1):
        where = f"{path.name}, line {number}"
        try:
            row = json.loads(line)
            if missing := [name for name in renamed(names).values() if name not in row]:
                raise FileWrong(
                    f"{where}: no column “{missing[0]}”, so these rows were written with other kept columns. "
                    f"Choose another --out. To reuse recorded calls, copy {path.name}.calls to the new name."
                )
            runs.append(str(row[names["run"]]))
        except (ValueError, KeyError, TypeError) as error:
            raise FileWrong(f"{where}: not an output of a grading, so it was not changed. Choose another file.") from error
    return frozenset(runs)
