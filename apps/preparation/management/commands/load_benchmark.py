"""`manage.py load_benchmark NAME FILE`: store the problems of a benchmark set, to compare other problems with them."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.files.mark_files import columns_check, rows_read, value_of
from apps.files.tables import FileWrong
from apps.preparation.contamination import benchmark_load


class Command(BaseCommand):
    """Replace the texts of one set. Coaches and researchers see them in comparisons; they are not in the library."""

    help = "Store the problems of a benchmark set. `filter_problems` and problem pages compare statements with them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name of the set")
        parser.add_argument("file", type=Path, help="CSV, JSONL or JSON with one problem per row")
        parser.add_argument("--text", default="problem", metavar="COLUMN", help="the statement (problem)")
        parser.add_argument("--id", default="", metavar="COLUMN", help="the problem's name (row number)")
        parser.add_argument("--rows", default="", metavar="PATH", help="path of the rows in a JSON file")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = rows_read(options["file"].read_bytes(), options["rows"])
            rows = [row for part in found.values() for row in part]
            columns_check(rows, [name for name in (options["text"], options["id"]) if name])
        except OSError as error:
            raise CommandError(f"Could not read {options['file']}: {error.strerror}.") from error
        except FileWrong as error:
            raise CommandError(str(error)) from error
        names = [value_of(row, options["id"]) if options["id"] else None for row in rows]
        texts = [
            (str(name or number)[:120], str(value_of(row, options["text"]) or ""))
            for number, (name, row) in enumerate(zip(names, rows, strict=True), 1)
        ]
        count = benchmark_load(collection=options["name"][:80], texts=texts)
        skipped = len(rows) - count
        self.stdout.write(f"Stored {count} problems of {options['name']}; skipped {skipped} rows without text or unique name.")
