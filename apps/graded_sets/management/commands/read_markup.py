"""`manage.py read_markup FILE`: convert scripts with errors marked as `<span class="…">` to rows with findings and points."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.files.kept_columns import merged, output_names, renamed
from apps.files.mark_files import Row, columns_check, rows_read, value_of
from apps.files.tables import FileWrong
from apps.reasoning.marking.span_markup import findings_of, markup_read, points_of_four
from apps.reasoning.texts.segmentation import segment

COLUMNS = ("script", "points", "findings", "markup_faults")
#: Prefix of our columns whose name exists in the file.
READ = "read_"


class Command(BaseCommand):
    """Write one row per script: `script` without markup, `findings` at steps, `points` out of 7, `markup_faults`."""

    help = "Convert scripts with errors marked as <span class=…> and a grade from 1 to 4."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="CSV, JSONL or JSON with one script per row")
        parser.add_argument("--text", required=True, help="the column with the marked text")
        parser.add_argument("--grade", default="", help="the column with a grade x from 1 to 4, converted to 2x − 1 points")
        parser.add_argument("--keep", nargs="*", default=[], help="columns to copy to the output, before ours")
        parser.add_argument("--rows", default="", help="path of the rows in a JSON file")
        parser.add_argument("--out", type=Path, required=True, help="JSONL file for the rows")

    def handle(self, *args: Any, **options: Any) -> None:
        text, grade, kept = options["text"], options["grade"], options["keep"]
        try:
            found = rows_read(options["file"].read_bytes(), options["rows"])
            rows = [row for part in found.values() for row in part]
            columns_check(rows, [name for name in (text, grade, *kept) if name])
        except OSError as error:
            raise CommandError(f"Could not read {options['file']}: {error.strerror}.") from error
        except FileWrong as error:
            raise CommandError(str(error)) from error
        counts: Counter[str] = Counter()
        with options["out"].open("w", encoding="utf-8") as out:
            for number, row in enumerate(rows, 1):
                read = _row(row, text, grade, number)
                counts.update(findings=len(read["findings"]), faults=len(read["markup_faults"]))
                together = merged({name: value_of(row, name) for name in kept}, read, READ)
                out.write(json.dumps(together, ensure_ascii=False) + "\n")
        for own, name in renamed(output_names(COLUMNS, kept, READ)).items():
            self.stdout.write(f"The file's column “{own}” is kept; ours is named “{name}”.")
        found_text = f"{len(rows)} scripts, {counts['findings']} findings"
        self.stdout.write(f"{found_text}, {counts['faults']} places with unreadable markup (markup_faults).")


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
        raise CommandError(f"Row {number}: “{value}” is not a grade from 1 to 4.") from error
