"""Export problems to text in the formats of the import."""

import json
from collections.abc import Iterable, Iterator

from django.db.models import QuerySet

from apps.files.csv_files import csv_lines
from apps.problems.drafts import ProblemDraft, draft_of
from apps.problems.importing.shapes import OURS_NAMES, SHAPES, Shape
from apps.problems.models import Problem, ProblemVersion

FORMATS = ("jsonl", "csv")


def export_text(problems: QuerySet[Problem], *, file_format: str, shape_name: str = "ours") -> str:
    """Export problems as text. An IMO-Bench shape includes only problems of that origin, with one solution each."""
    shape = SHAPES[shape_name]
    if shape.origin:
        problems = problems.filter(origin=shape.origin)
    drafts = _drafts(problems)
    return _csv(drafts, shape) if file_format == "csv" else _jsonl(drafts, shape)


def _drafts(problems: QuerySet[Problem]) -> Iterator[ProblemDraft]:
    rows = list(problems.prefetch_related("reference_solutions", "hints"))
    newest: dict[int, ProblemVersion] = {}
    for version in ProblemVersion.objects.filter(problem__in=[row.pk for row in rows]).order_by("number"):
        newest[version.problem_id] = version
    return (draft_of(row, newest[row.pk]) for row in rows)


def _jsonl(drafts: Iterable[ProblemDraft], shape: Shape) -> str:
    return "".join(json.dumps(shape.write(draft), ensure_ascii=False) + "\n" for draft in drafts)


def _csv(drafts: Iterable[ProblemDraft], shape: Shape) -> str:
    """Write CSV. The Lemmascope shape puts solutions and hints into numbered columns, because CSV has no lists."""
    records = [shape.write(draft) for draft in drafts]
    names = list(shape.names)
    if shape.name == "ours":
        most = max((len(record["solutions"]) for record in records), default=0)
        numbered = [f"{kind}_{n}" for n in range(1, most + 1) for kind in ("approach", "solution")]
        numbered += [f"hint_{n}" for n in range(1, max((len(record["hints"]) for record in records), default=0) + 1)]
        names = [name for name in OURS_NAMES if name not in ("solutions", "hints")] + numbered
        for record in records:
            record |= {f"hint_{number}": text for number, text in enumerate(record.pop("hints"), 1)}
            for number, solution in enumerate(record.pop("solutions"), 1):
                record[f"approach_{number}"], record[f"solution_{number}"] = solution["approach"], solution["text"]
    return "".join(csv_lines(names, records))
