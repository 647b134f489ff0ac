"""`manage.py read_markup FILE`: scripts with errors marked as `<span class="…">`, as rows with findings and points."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.grading.kept_columns import beside, names_beside, renamed
from apps.grading.mark_files import Row, columns_check, rows_read, value_of
from apps.problems.importing.files import FileWrong
from apps.reasoning.marking.span_markup import findings_of, markup_read, points_of_four
from apps.reasoning.texts.segmentation import segment

COLUMNS = ("script", "points", "findings", "markup_faults")
#: Before a column of ours whose name the file has.
READ = "read_"


class Command(BaseCommand):
    """A row a script: the text without its markup in `script`, `findings` at its steps, `points` of 7, `markup_faults`."""

    help = "Reads scripts in which errors are marked as <span class=…>, with a grade from 1 to 4."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="CSV, JSONL or JSON with a script a row")
        parser.add_argument("--text", required=True, help="the column with the marked text")
        parser.add_argument("--grade", default="", help="the column with the grade from 1 to 4; it becomes 2x − 1 points")
        parser.add_argument("--keep", nargs="*", default=[], help="columns that go to the output as they are, before ours")
        parser.add_argument("--rows", default="", help="the way to the rows in a JSON file")
        parser.add_argument("--out", type=Path, required=True, help="where the rows go, as JSONL")

    def handle(self, *args: Any, **options: Any) -> None:
        text, grade, kept = options["text"], options["grade"], options["keep"]
        try:
            found = rows_read(options["file"].read_bytes(), options["rows"])
            rows = [row for part in found.values() for row in part]
            columns_check(rows, [name for name in (text, grade, *kept) if name])
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}.") from error
        except FileWrong as error:
            raise CommandError(str(error)) from error
        counts: Counter[str] = Counter()
        with options["out"].open("w", encoding="utf-8") as out:
            for number, row in enumerate(rows, 1):
                read = _row(row, text, grade, number)
                counts.update(findings=len(read["findings"]), faults=len(read["markup_faults"]))
                together = beside({name: value_of(row, name) for name in kept}, read, READ)
                out.write(json.dumps(together, ensure_ascii=False) + "\n")
        for own, name in renamed(names_beside(COLUMNS, kept, READ)).items():
            self.stdout.write(f"“{own}” of the file is kept; ours is “{name}”.")
        told = f"{len(rows)} scripts, {counts['findings']} findings"
        self.stdout.write(f"{told}, {counts['faults']} places of markup that cannot be read (markup_faults).")


def _row(row: Row, text: str, grade: str, number: int) -> dict[str, Any]:
    marked = markup_read(str(value_of(row, text) or ""))
    steps = [(step.start, step.end) for step in segment(marked.source)]
    return {
        "script": marked.source,
        "points": _points(value_of(row, grade), number) if grade else None,
        "findings": [finding.model_dump(mode="json") for finding in findings_of(marked, steps)],
        "markup_faults": list(marked.faults),
    }


def _points(value: Any, number: int) -> float:
    try:
        given = Decimal(str(value).strip())
        if given != int(given):
            raise ValueError
        return float(points_of_four(int(given)))
    except (ValueError, ArithmeticError) as error:
        raise CommandError(f"Row {number}: “{value}” is no grade from 1 to 4.") from error
