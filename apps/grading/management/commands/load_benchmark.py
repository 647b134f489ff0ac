"""`manage.py load_benchmark NAME FILE`: keep the problems of a benchmark set, so that others can be compared with them."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.grading.contamination import benchmark_load
from apps.grading.mark_files import columns_check, rows_read, value_of
from apps.problems.importing.files import FileWrong


class Command(BaseCommand):
    """Texts are replaced set by set. They are compared with and shown to coaches and researchers; nobody explores them."""

    help = "Keep the problems of a benchmark set. `filter_problems` and problem pages compare statements with them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what the set is called")
        parser.add_argument("file", type=Path, help="CSV, JSONL or JSON with a problem a row")
        parser.add_argument("--text", default="problem", metavar="COLUMN", help="the statement (problem)")
        parser.add_argument("--id", default="", metavar="COLUMN", help="the problem's name; else its row")
        parser.add_argument("--rows", default="", metavar="WAY", help="where a JSON file has its rows")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = rows_read(options["file"].read_bytes(), options["rows"])
            rows = [row for part in found.values() for row in part]
            columns_check(rows, [name for name in (options["text"], options["id"]) if name])
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}.") from error
        except FileWrong as error:
            raise CommandError(str(error)) from error
        names = [value_of(row, options["id"]) if options["id"] else None for row in rows]
        texts = [
            (str(name or number)[:120], str(value_of(row, options["text"]) or ""))
            for number, (name, row) in enumerate(zip(names, rows, strict=True), 1)
        ]
        count = benchmark_load(collection=options["name"][:80], texts=texts)
        left = len(rows) - count
        self.stdout.write(f"{count} problems of {options['name']} are kept; {left} rows have no text or a name twice.")
