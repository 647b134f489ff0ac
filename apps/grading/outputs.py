"""The output of `manage.py grade`: one JSON object a script, as `manage.py agreement` takes it."""

import json
from pathlib import Path
from typing import Any

from apps.grading.call_files import lines_kept
from apps.grading.running import Done
from apps.problems.importing.files import FileWrong
from apps.reasoning.marking.span_markup import markup_write, places_of
from apps.reasoning.texts.source import source_of


def row_of(done: Done, workflow: str, models: dict[str, str]) -> dict[str, Any]:
    """A script as a row. `points` is null exactly where `unscored` says why; kept columns stand under their own names."""
    grading = done.grading
    return {
        **done.job.kept,
        "paper": done.job.paper,
        "problem": done.job.problem.id,
        "workflow": workflow,
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


def runs_in(path: Path) -> frozenset[str]:
    """The gradings that an output holds already. Raises `FileWrong` for a file that is something else."""
    runs = []
    for number, line in enumerate(lines_kept(path), 1):
        try:
            runs.append(str(json.loads(line)["run"]))
        except (ValueError, KeyError, TypeError) as error:
            raise FileWrong(f"{path.name}, line {number}: this is no output of a grading; choose another file.") from error
    return frozenset(runs)
